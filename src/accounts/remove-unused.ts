/**
 * Removes what nobody needs any more: messages of deleted folders, contents without messages, sets of keywords that no message has, old
 * ids of deliveries, and files that a crash left behind. Rows go first and files last, in small writes, so that sessions hardly notice.
 */

import { sweepFiles } from '../blobs/sweep.ts';
import { defineWrite } from '../db/operation.ts';
import { DAY_MS } from '../system/clock.ts';
import type { OpenAccount } from './account.ts';
import { removeUnusedFile } from './content.ts';
import { isFileInUse, listReleased, releaseContents, removeUnusedContents } from './content-store.ts';
import { deleteOldDeliveries } from './delivery-store.ts';
import { deleteExpunged, forgetExpunged } from './expunged-store.ts';
import { contentFolder } from './folder.ts';
import { listFolderRows, raiseTombstoneFloor } from './folder-store.ts';
import { listKeywordSetIds, removeUnusedKeywords } from './keyword-store.ts';
import { deleteSomeMessages, listOrphanedFolders } from './message-store.ts';
import type { AccountTx } from './store.ts';

/** Maximum number of rows that one write removes, which takes some milliseconds. */
const MAX_REMOVED_ROWS = 200;
/** Maximum number of ranges of removed UIDs that a folder remembers. A client that was away longer compares UIDs. */
const MAX_TOMBSTONES = 10_000;
/** Age at which ids of deliveries are forgotten. Mail that is delivered is tried for some days. */
const DELIVERY_AGE_MS = 90 * DAY_MS;

/** Removes some messages of a deleted folder. Returns false when there was none. */
const removeOrphans = defineWrite(
  'account.removeOrphans',
  async (tx: AccountTx, { folderId }: { folderId: number }): Promise<boolean> => {
    await deleteExpunged(tx, folderId);
    const contentIds = await deleteSomeMessages(tx, folderId, MAX_REMOVED_ROWS);
    await releaseContents(tx, new Set(contentIds));
    return contentIds.length > 0;
  },
  { priority: 'bulk' },
);

/** Removes contents that no message has. Returns their ids, and the hashes of their files. */
const removeContents = defineWrite(
  'account.removeContents',
  (
    tx: AccountTx,
    { contentIds }: { contentIds: readonly number[] },
  ): ReturnType<typeof removeUnusedContents> => removeUnusedContents(tx, contentIds),
  { priority: 'bulk' },
);

const forgetTombstones = defineWrite(
  'account.forgetTombstones',
  async (tx: AccountTx, { folderId }: { folderId: number }): Promise<void> => {
    const floor = await forgetExpunged(tx, folderId, MAX_TOMBSTONES);
    if (floor !== undefined) await raiseTombstoneFloor(tx, folderId, floor);
  },
  { priority: 'bulk' },
);

const forgetDeliveries = defineWrite(
  'account.forgetDeliveries',
  (tx: AccountTx, { before }: { before: number }): Promise<number> =>
    deleteOldDeliveries(tx, before, MAX_REMOVED_ROWS),
  { priority: 'bulk' },
);

const removeKeywords = defineWrite(
  'account.removeKeywords',
  (tx: AccountTx, { ids }: { ids: readonly number[] }): Promise<void> => removeUnusedKeywords(tx, ids),
  { priority: 'bulk' },
);

async function removeKeywordSets({ db }: OpenAccount): Promise<void> {
  for (let after = 0; ; ) {
    const ids = await listKeywordSetIds(db.read, { after, count: MAX_REMOVED_ROWS });
    if (ids.length === 0) return;
    await db.commit(removeKeywords, { ids });
    after = ids.at(-1) ?? after;
  }
}

/** Removes all that nobody needs, except contents that sessions still show, and stray files. */
export async function removeUnused(account: OpenAccount): Promise<void> {
  const { db, heldContents } = account;
  for (const folderId of await listOrphanedFolders(db.read))
    while (await db.commit(removeOrphans, { folderId })) {}
  for (let after = 0; ; ) {
    const released = await listReleased(db.read, after, MAX_REMOVED_ROWS);
    after = released.at(-1) ?? 0;
    if (after === 0) break;
    const contentIds = released.filter((id) => !heldContents.has(id));
    const { removed, files } = await db.commit(removeContents, { contentIds });
    for (const sha256 of files) await removeUnusedFile(account, sha256);
    await account.search.remove(removed);
  }
  for (const { id } of await listFolderRows(db.read)) await db.commit(forgetTombstones, { folderId: id });
  await removeKeywordSets(account);
  const before = account.app.clock.now() - DELIVERY_AGE_MS;
  while ((await db.commit(forgetDeliveries, { before })) === MAX_REMOVED_ROWS) {}
}

/** Moves files that no content names to the trash of the account (blobs/trash.ts), unless they are suspiciously many. */
export async function sweepStrayFiles(account: OpenAccount): Promise<void> {
  const { id, app, db, preparedFiles, fileHolds } = account;
  const { moved, stopped } = await sweepFiles(contentFolder(account.folder), {
    now: app.clock.now(),
    isNamed: (sha256) => isFileInUse(db.read, sha256),
    isPrepared: (sha256) => preparedFiles.has(sha256),
    wasInUse: () => false,
    mode: fileHolds.isHeld ? 'keep' : 'normal',
  });
  if (moved > 0)
    app.log.info({ mailbox: id, files: moved }, 'files without a message were moved to the trash');
  if (stopped)
    app.log.warn(
      { mailbox: id, ...stopped },
      'many files of a mailbox belong to no message; check the mailbox, since its database may be an old one',
    );
}
