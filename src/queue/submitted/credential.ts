/**
 * Names the credential with which a person has handed in a message. Mail can be held for weeks, and somebody may have held it with a
 * stolen password, so it does not leave once the password was replaced.
 */
import { createHash } from 'node:crypto';
import type { AppPasswordRow, MailboxRow } from '../../db/mailbox-tables.ts';
import type { ApiKeyRow } from '../../db/tenant-tables.ts';

/** Number of characters of a hash in base64url that tell the passwords of a mailbox apart. */
const MARK_CHARACTERS = 22;
const OWN_PASSWORD = 'password';

/** The id of an app password or of an API key, or a mark of the password that the mailbox had. */
export type HandedInWith = AppPasswordRow['id'] | ApiKeyRow['id'] | `${typeof OWN_PASSWORD} ${string}`;

/** Returns the mark of the mailbox's own password. Another password has another one, even if its characters are the same. */
export function markOfPassword({ passwordHash }: Pick<MailboxRow, 'passwordHash'>): HandedInWith {
  const hash = createHash('sha256').update(passwordHash).digest('base64url');
  return `${OWN_PASSWORD} ${hash.slice(0, MARK_CHARACTERS)}`;
}

/** Returns the credential as operators read it: `password`, or the id of an app password or of an API key. */
export function showCredential(handedInWith: string): string {
  return handedInWith.startsWith(`${OWN_PASSWORD} `) ? OWN_PASSWORD : handedInWith;
}
