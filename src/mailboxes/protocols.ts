/** The protocols by which mail programs log in to a mailbox. `smtp` is submission, and `sieve` is ManageSieve. */
export type Protocol = 'imap' | 'pop3' | 'smtp' | 'sieve';
