/** STATUS over an account (RFC 9051 section 6.3.11). */
import type { StatusItem, StatusValues } from '../../mail/imap/session.ts';
import { countMessagesFrom, sumDeletedBytes } from '../message-store.ts';
import { settleFlags } from '../settle-flags.ts';
import type { FolderRow } from '../tables.ts';
import type { AccountState } from './account-state.ts';

/** Returns the values of the items that are asked for. */
export async function statusOf(
  shared: AccountState,
  folder: FolderRow,
  items: readonly StatusItem[],
): Promise<StatusValues> {
  const values: StatusValues = {
    MESSAGES: folder.messageCount,
    UIDNEXT: folder.uidNext,
    UIDVALIDITY: folder.uidValidity,
    UNSEEN: folder.unseenCount,
    DELETED: folder.deletedCount,
    SIZE: folder.sizeBytes,
    HIGHESTMODSEQ: folder.highestModseq,
    MAILBOXID: folder.objectId,
  };
  if (items.includes('DELETED-STORAGE')) {
    await settleFlags(shared.account, folder.id);
    values['DELETED-STORAGE'] = await sumDeletedBytes(shared.account.db.read, folder.id);
  }
  if (items.includes('RECENT')) values.RECENT = await countRecent(shared, folder);
  return Object.fromEntries(items.map((item) => [item, values[item]]));
}

async function countRecent(shared: AccountState, folder: FolderRow): Promise<number> {
  const uidFrom = shared.find(folder.id)?.recentFrom ?? folder.recentFrom;
  if (uidFrom >= folder.uidNext) return 0;
  return await countMessagesFrom(shared.account.db.read, { folderId: folder.id, uidFrom });
}
