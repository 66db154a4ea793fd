/** Names the folder of a mailbox, which has its index, its messages and everything else that belongs to it alone. */
import { join } from 'node:path';
import type { MailboxRow } from '../db/mailbox-tables.ts';

/** Returns the path of the folder of a mailbox. */
export function accountFolder(dataDir: string, id: MailboxRow['id']): string {
  return join(dataDir, 'mailboxes', id);
}

/** Returns the path of the database of an account, which holds everything except large contents and search texts. */
export function indexFile(folder: string): string {
  return join(folder, 'index.db');
}

/** Returns the folder of the files of an account, which hold its large contents (blobs/files.ts). */
export function contentFolder(folder: string): string {
  return join(folder, 'blobs');
}

/** Returns the path of the database of search texts. It can be deleted and is then made again. */
export function searchFile(folder: string): string {
  return join(folder, 'search.db');
}

/** Says which names folders can have. Names are decoded: `/` separates levels. */

/** Maximum length of a name with all its levels. File systems, which other servers use, allow 255 octets for a level. */
export const MAX_NAME_CHARACTERS = 1_000;

/** Broken programs create such folders. */
export const INBOX_IN_INBOX = /^INBOX\/INBOX(?=\/|$)/i;

/** Returns why a folder cannot have this name; undefined when it can. Clients cannot tell names with empty levels apart. */
export function problemOfName(name: string): string | undefined {
  if (name === '') return 'The name is empty';
  if (name.length > MAX_NAME_CHARACTERS) return `The name is longer than ${MAX_NAME_CHARACTERS} characters`;
  if (name.split('/').includes('')) return 'The name has an empty level';
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) return 'The name has characters that are not allowed';
  return INBOX_IN_INBOX.test(name) ? 'INBOX cannot be inside INBOX' : undefined;
}
