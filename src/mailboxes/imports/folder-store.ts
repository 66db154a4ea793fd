/** Stores which folders of other servers a mailbox has messages of. All SQL of the table is here, and nothing else writes it. */
import type { MailboxImportFolderRow } from '../../db/mailbox-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { notFound } from '../../system/errors.ts';
import { findMailboxById } from '../store.ts';
import { requireNotSuspended } from './store.ts';

/** Maximum number of folders that are known of a mailbox. Messages of further ones are compared by their content. Our own limit. */
const MAX_KNOWN_FOLDERS = 10_000;

type Opened = Pick<MailboxImportFolderRow, 'mailboxId' | 'folderKey' | 'uidValidity'>;

/**
 * Records that a folder is imported with this UIDVALIDITY, before its first message is. Returns whether a message with a UID that is
 * not known may have been imported before: the folder has had another UIDVALIDITY, with which its messages had other UIDs.
 * @throws AppError not_found when the mailbox was deleted; unavailable while it is suspended
 */
export const openFolder = defineWrite(
  'mailboxImports.openFolder',
  async (tx, { mailboxId, folderKey, uidValidity }: Opened): Promise<{ mayRepeat: boolean }> => {
    const mailbox = await findMailboxById(tx, mailboxId);
    if (!mailbox) throw notFound('Mailbox');
    requireNotSuspended(mailbox);
    const known = await tx
      .selectFrom('mailboxImportFolders')
      .selectAll()
      .where('mailboxId', '=', mailboxId)
      .where('folderKey', '=', folderKey)
      .executeTakeFirst();
    if (known?.uidValidity === uidValidity) return { mayRepeat: known.mayRepeat === 1 };
    if (known) {
      await tx
        .updateTable('mailboxImportFolders')
        .set({ uidValidity, mayRepeat: 1 })
        .where('mailboxId', '=', mailboxId)
        .where('folderKey', '=', folderKey)
        .execute();
      return { mayRepeat: true };
    }
    const { count } = await tx
      .selectFrom('mailboxImportFolders')
      .select((select) => select.fn.countAll<number>().as('count'))
      .where('mailboxId', '=', mailboxId)
      .executeTakeFirstOrThrow();
    if (count >= MAX_KNOWN_FOLDERS) return { mayRepeat: true };
    const row: MailboxImportFolderRow = { mailboxId, folderKey, uidValidity, mayRepeat: 0 };
    await tx.insertInto('mailboxImportFolders').values(row).execute();
    return { mayRepeat: false };
  },
);
