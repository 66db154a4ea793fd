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
