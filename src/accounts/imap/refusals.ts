/** Refusals of IMAP commands that several methods of a session give. */
import type { Refusal } from '../../mail/imap/session.ts';

/** Returns the refusal of a sequence number that does not exist. */
export function outOfRange(): Refusal {
  return { refused: 'BAD', text: 'A sequence number does not exist' };
}

/** Returns the refusal of a mailbox that does not exist. */
export function missingMailbox(): Refusal {
  return { refused: 'NO', code: 'NONEXISTENT', text: 'The mailbox does not exist' };
}

/** Returns the refusal of a target that does not exist, which the client may create (RFC 9051 section 7.1). */
export function missingTarget(): Refusal {
  return { refused: 'NO', code: 'TRYCREATE', text: 'The mailbox does not exist' };
}

/** Returns the refusal of messages that exceed the quota of the account (RFC 9208 section 4.3.1). */
export function overQuota(): Refusal {
  return { refused: 'NO', code: 'OVERQUOTA', text: 'The account has no room for the messages' };
}
