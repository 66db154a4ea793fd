/** The sections of the configuration for mail programs of people: the listeners by which they read and send mail. */
import { type TInteger, Type } from 'typebox';
import { connections, listener, port } from './fields.ts';

/** Maximum number of recipients that a mailbox can be allowed to write to in a day. */
const MAX_RECIPIENTS_PER_DAY = 10_000_000;
/** The port without TLS from the first byte, and the maximum number of connections, of a protocol by which people read mail. */
const readingSettings = (starttlsPort: number, maxConnections: TInteger) => ({
  connections: maxConnections,
  starttls: Type.Boolean({
    default: false,
    description:
      'Listens on a second port, where connections begin without TLS. Without TLS only clients on this machine can log in.',
  }),
  starttlsPort: port(starttlsPort, 'This second port; 0 takes any free one.'),
});

export const imapSection = listener(
  'IMAP, by which people read the mail of their mailboxes, with TLS from the first byte. It is opened with the first mailbox.',
  { address: '::', port: 993 },
  readingSettings(
    143,
    connections(20_000, 'Maximum number of open connections. A client holds about five for all of its time.'),
  ),
);

export const pop3Section = listener(
  'POP3, by which people fetch the mail of their INBOX, with TLS from the first byte. It is opened with the first mailbox.',
  { address: '::', port: 995 },
  readingSettings(
    110,
    connections(2_000, 'Maximum number of open connections. A client holds one while it fetches mail.'),
  ),
);

export const managesieveSection = listener(
  'ManageSieve (RFC 5804), by which people manage the Sieve scripts of their mailboxes. Connections begin without TLS, and nobody logs in before STARTTLS, except on this machine.',
  { address: '::', port: 4190 },
  {
    connections: connections(2_000, 'Maximum number of open connections.'),
  },
);

export const submissionSection = listener(
  'Submission, by which people send the mail of their mailboxes, and applications send with an API key as password. Nothing is accepted without a login, and no login without TLS.',
  { address: '::', port: 587 },
  {
    enabled: Type.Boolean({ default: true, description: 'Listens on both ports.' }),
    tlsPort: port(465, 'Second port, with TLS from the first byte; 0 takes any free one.'),
    connections: connections(5_000, 'Maximum number of open connections of each port.'),
    recipientsPerDay: Type.Integer({
      minimum: 1,
      maximum: MAX_RECIPIENTS_PER_DAY,
      default: 500,
      description:
        'Number of recipients that a mailbox may write to within 24 hours. API keys have the limits of their plan instead.',
    }),
    newRecipientsPerDay: Type.Integer({
      minimum: 1,
      maximum: MAX_RECIPIENTS_PER_DAY,
      default: 200,
      description: 'Number of recipients within 24 hours to whom a mailbox has not written before.',
    }),
    recipientsPerDayOfTenant: Type.Integer({
      minimum: 1,
      maximum: MAX_RECIPIENTS_PER_DAY,
      default: 10_000,
      description:
        'Number of recipients that all mailboxes of a tenant together may write to within 24 hours. What their scripts send has a limit of its own, which is as large.',
    }),
  },
);
