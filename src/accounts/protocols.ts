/** The protocols by which mail programs log in to a mailbox. `smtp` is submission, and `sieve` is ManageSieve. */
export const PROTOCOLS = ['imap', 'pop3', 'smtp', 'sieve'] as const;
export type Protocol = (typeof PROTOCOLS)[number];
