/**
 * The built-in signs of spam. Each of them is weak alone, and mail servers that are run with care show few of them. The score of a
 * message is the sum of the points of all signs that apply.
 */
import { isIP } from 'node:net';
import type { AuthenticationResult } from '../mail/auth/result.ts';
import { parseDate } from '../mail/date.ts';
import { isSameOrBelow } from '../mail/domain-names.ts';
import { decodeWords } from '../mail/message/decode-words.ts';
import { DAY_MS } from '../system/clock.ts';

/** One reason for a score, as it is stored and shown. */
export type SpamReason = { name: string; points: number };

export type SignalInput = {
  result: AuthenticationResult;
  /** True when the author's domain asks for the message to be treated as suspicious. */
  isQuarantined: boolean;
  /** Name that the client gave; undefined for a relay of the operator. */
  helo: string | undefined;
  /** Host name of this installation. */
  hostname: string;
  /** Header fields by name in lower case: `from`, `date` and `message-id`, not decoded. */
  fields: ReadonlyMap<string, string>;
  /** Time of arrival in Unix milliseconds. */
  now: number;
};

type Signal = SpamReason & { applies(input: SignalInput): boolean };

/** A date this much ahead is not the mistake of a clock. */
const MAX_AHEAD_MS = DAY_MS;
/** Maximum number of addresses that are looked for in the name of an author. */
const MAX_NAMED_ADDRESSES = 5;

/** Points of each signal. Limits are usually about 6 for a flag and 15 for a refusal. */
const SIGNALS: readonly Signal[] = [
  { name: 'dmarc_quarantine', points: 4, applies: ({ isQuarantined }) => isQuarantined },
  {
    name: 'dmarc_fail',
    points: 1.5,
    applies: ({ result: { dmarc } }) => dmarc.result === 'fail' && dmarc.policy === 'none',
  },
  { name: 'spf_fail', points: 2, applies: ({ result }) => result.spf.result === 'fail' },
  { name: 'spf_softfail', points: 1, applies: ({ result }) => result.spf.result === 'softfail' },
  { name: 'helo_spf_fail', points: 1, applies: ({ result }) => result.heloSpf.result === 'fail' },
  {
    name: 'dkim_fail',
    points: 1,
    applies: ({ result: { dkim } }) =>
      dkim.some(({ result }) => result === 'fail') && !dkim.some(({ result }) => result === 'pass'),
  },
  { name: 'no_reverse_dns', points: 2, applies: ({ result }) => result.reverseDns.result === 'none' },
  {
    name: 'unconfirmed_reverse_dns',
    points: 1.5,
    applies: ({ result }) => result.reverseDns.result === 'fail',
  },
  // The name is that of the client, and not one of ours (RFC 5321 section 4.1.1.1).
  {
    name: 'helo_is_ours',
    points: 4,
    applies: ({ helo, hostname }) => helo?.toLowerCase() === hostname.toLowerCase(),
  },
  { name: 'helo_is_literal', points: 1, applies: ({ helo }) => helo?.startsWith('[') === true },
  { name: 'helo_not_qualified', points: 2, applies: ({ helo }) => helo !== undefined && isUnqualified(helo) },
  // Date is required, and Message-ID should be there (RFC 5322 section 3.6).
  { name: 'missing_date', points: 1.5, applies: ({ fields }) => !fields.has('date') },
  { name: 'invalid_date', points: 1, applies: ({ fields }) => fields.has('date') && dateOf(fields) === null },
  {
    name: 'date_in_future',
    points: 1.5,
    applies: ({ fields, now }) => (dateOf(fields) ?? now) > now + MAX_AHEAD_MS,
  },
  { name: 'missing_message_id', points: 1.5, applies: ({ fields }) => !fields.has('message-id') },
  { name: 'author_named_like_other', points: 3, applies: namesOtherAddress },
];

/** Returns the signs that a message shows. */
export function findSignals(input: SignalInput): SpamReason[] {
  return SIGNALS.filter(({ applies }) => applies(input)).map(({ name, points }) => ({ name, points }));
}

/** Servers give a name with a domain, or an address in brackets (RFC 5321 section 4.1.3). */
function isUnqualified(helo: string): boolean {
  return isIP(helo) !== 0 || (!helo.startsWith('[') && !helo.replace(/\.$/, '').includes('.'));
}

function dateOf(fields: SignalInput['fields']): number | null {
  return parseDate(fields.get('date') ?? '');
}

/**
 * Returns true for an author such as `"service@bank.example" <x@spam.example>`: programs that show the name alone mislead
 * their reader.
 */
function namesOtherAddress({ fields, result }: SignalInput): boolean {
  const [author = ''] = result.from.addresses;
  const domain = author.slice(author.lastIndexOf('@') + 1).toLowerCase();
  const text = decodeWords(fields.get('from') ?? '');
  const name = text.slice(0, Math.max(0, text.lastIndexOf('<')));
  // The domains after each `@` are read alone, since a pattern for whole addresses takes quadratic time.
  const named = name.split('@', MAX_NAMED_ADDRESSES + 1).slice(1);
  return named.some((rest) => {
    const [other] = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,5}/i.exec(rest) ?? [];
    return (
      other !== undefined &&
      !isSameOrBelow(other.toLowerCase(), domain) &&
      !isSameOrBelow(domain, other.toLowerCase())
    );
  });
}
