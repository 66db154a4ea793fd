/** The sections of the configuration for mail programs of people: the listeners by which they read and send mail. */
import { Type } from 'typebox';
import { listener, port } from './config-fields.ts';

export const imapSection = listener(
  'IMAP, by which people read the mail of their mailboxes, with TLS from the first byte. It is opened with the first mailbox.',
  { address: '::', port: 993 },
  {
    connections: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 20_000,
      description: 'Maximum number of open connections. A client holds about five for all of its time.',
    }),
    starttls: Type.Boolean({
      default: false,
      description:
        'Listens on a second port, where connections begin without TLS. Without TLS only clients on this machine can log in.',
    }),
    starttlsPort: port(143, 'This second port; 0 takes any free one.'),
  },
);

export const managesieveSection = listener(
  'ManageSieve (RFC 5804), by which people manage the Sieve scripts of their mailboxes. Connections begin without TLS, and nobody logs in before STARTTLS, except on this machine.',
  { address: '::', port: 4190 },
  {
    connections: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 2_000,
      description: 'Maximum number of open connections.',
    }),
  },
);
