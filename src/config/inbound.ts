/** The section of the configuration for mail that arrives. */
import { Type } from 'typebox';
import { section } from './fields.ts';

/** Maximum number of blocklists: each is asked about each client. */
const MAX_DNSBL_ZONES = 10;
/** Maximum score at which something can happen. */
const MAX_SPAM_SCORE = 1_000;

export const inboundSection = section('What is done with mail that arrives.', {
  postmaster: Type.String({
    pattern: "^$|^[!#$%&'*+/=?^_`{|}~0-9A-Za-z.-]{1,64}@[0-9A-Za-z.-]{1,253}$",
    default: '',
    description:
      'Address that mail to postmaster and abuse, of the host name and of every domain that receives here, is forwarded to. Empty: such mail is only kept.',
  }),
  dmarcReports: Type.Boolean({
    default: false,
    description:
      'Sends daily DMARC reports to the domains that ask for them, about mail that came from them. They are signed for the host name.',
  }),
  trustedRelays: Type.Array(Type.String(), {
    default: [],
    description:
      'Address blocks of your own relays, such as a backup MX or a filter. They have no limits of connections and messages, and SPF judges the client that sent to them.',
  }),
  trustedSealers: Type.Array(Type.String({ pattern: '^[a-z0-9.-]{1,253}$' }), {
    default: [],
    description:
      'Domains of forwarders, such as mailing lists, whose ARC seals are believed: their mail is not refused for failing DMARC when the author passed it before.',
  }),
  dnsbl: Type.Array(
    Type.Object(
      {
        zone: Type.String({ pattern: '^[a-z0-9_.-]{1,150}$' }),
        action: Type.Enum(['refuse', 'score'], { default: 'refuse' }),
        answers: Type.Array(Type.String(), { minItems: 1, maxItems: 100, default: ['127.0.0.0/8'] }),
      },
      { additionalProperties: false },
    ),
    {
      maxItems: MAX_DNSBL_ZONES,
      default: [],
      description:
        'Blocklists in the DNS, such as [{ zone: zen.spamhaus.org }]. Mail of a client that one lists is refused; with "action: score" it only counts as a sign of spam. ' +
        '"answers" has the address blocks of the answers that count, for zones that combine several lists. Senders that a tenant has written to are exempt when SPF passes for them. ' +
        'Most lists have terms of use, and answer only to resolvers of your own.',
    },
  ),
  spam: section('Limits of the score that says how much a message looks like spam.', {
    flagAt: Type.Integer({
      minimum: 1,
      maximum: MAX_SPAM_SCORE,
      default: 6,
      description: 'Score from which a message is flagged. It is delivered nevertheless.',
    }),
    refuseAt: Type.Integer({
      minimum: 0,
      maximum: MAX_SPAM_SCORE,
      default: 0,
      description: 'Score from which a message is refused, such as 15. 0 refuses none.',
    }),
  }),
  rspamd: section(
    'An rspamd that judges messages. While it does not answer, the built-in signs of spam count.',
    {
      url: Type.String({
        // An origin (RFC 6454 section 6.2), without a path.
        pattern: '^$|^https?://(?:[A-Za-z0-9.-]+|\\[[0-9a-f:.]+\\])(?::[0-9]{1,5})?$',
        default: '',
        description:
          'Address of its normal worker, such as http://127.0.0.1:11333. Every message for a tenant is sent there. Empty: none.',
      }),
    },
  ),
  greylisting: section(
    'Greylisting: the first mail from an unknown network is deferred once, since programs that send spam rarely try again.',
    {
      enabled: Type.Boolean({
        default: false,
        description:
          'Defers the first mail from a network, by sender and recipient. After a successful retry all mail from the network is accepted at once. Senders that a tenant has written to are exempt when SPF passes for them.',
      }),
      delaySeconds: Type.Integer({
        minimum: 1,
        maximum: 3_600,
        default: 60,
        description: 'Time in seconds before which a retry is too early.',
      }),
      retryHours: Type.Integer({
        minimum: 1,
        maximum: 168,
        default: 24,
        description: 'Time in hours within which the retry must come.',
      }),
      keepDays: Type.Integer({
        minimum: 1,
        maximum: 365,
        default: 36,
        description: 'Days for which a network is remembered after its last mail.',
      }),
    },
  ),
});
