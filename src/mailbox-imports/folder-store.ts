/** Stores which folders of other servers a mailbox has messages of. All SQL of the table is here, and nothing else writes it. */

import type { MailboxImportFolderRow } from '../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { countRows, findRow } from '../db/rows.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { notFound } from '../system/errors.ts';
import { requireNotSuspended } from './store.ts';

/** Maximum number of folders that are known of a mailbox. Messages of further ones are compared by their content. */
const MAX_KNOWN_FOLDERS = 10_000;

type Opened = Pick<MailboxImportFolderRow, 'mailboxId' | 'folderKey' | 'uidValidity'>;
type Known = { mayRepeat: boolean };

/**
 * Returns what is known of a folder; undefined when it has to be recorded first (`openFolder`), so that a run of an import that goes
 * through many folders once more writes nothing.
 */
export async function findOpenFolder(tx: Tx, opened: Opened): Promise<Known | undefined> {
  const known = await findFolder(tx, opened);
  if (known)
    return known.uidValidity === opened.uidValidity ? { mayRepeat: known.mayRepeat === 1 } : undefined;
  const count = await countRows(tx, 'mailboxImportFolders', { mailboxId: opened.mailboxId });
  return count >= MAX_KNOWN_FOLDERS ? { mayRepeat: true } : undefined;
}

function findFolder(tx: Tx, { mailboxId, folderKey }: Opened): Promise<MailboxImportFolderRow | undefined> {
  return findRow(tx, 'mailboxImportFolders', { mailboxId, folderKey });
}

/**
 * Records that a folder is imported with this UIDVALIDITY, before its first message is. Returns whether a message with a UID that is
 * not known may have been imported before: the folder has had another UIDVALIDITY, with which its messages had other UIDs.
 * @throws AppError not_found when the mailbox was deleted; unavailable while it is suspended
 */
export const openFolder = defineWrite(
  'mailboxImports.openFolder',
  async (tx, opened: Opened): Promise<Known> => {
    const { mailboxId, folderKey, uidValidity } = opened;
    const mailbox = await findMailboxById(tx, mailboxId);
    if (!mailbox) throw notFound('Mailbox');
    requireNotSuspended(mailbox);
    const open = await findOpenFolder(tx, opened);
    if (open) return open;
    const mayRepeat = (await findFolder(tx, opened)) === undefined ? 0 : 1;
    const row: MailboxImportFolderRow = { mailboxId, folderKey, uidValidity, mayRepeat };
    await tx
      .insertInto('mailboxImportFolders')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['mailboxId', 'folderKey']).doUpdateSet({ uidValidity, mayRepeat }),
      )
      .execute();
    return { mayRepeat: mayRepeat === 1 };
  },
);
