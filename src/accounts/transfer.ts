/** Imports mail into an account, and reads it for an export (accounts/contents.ts). */

import { defineWrite } from '../db/operation.ts';
import { AppError, notFound } from '../system/errors.ts';
import type { OpenAccount } from './account.ts';
import { type Addition, addInWrite, type Committed, publishAdded, settle } from './add.ts';
import { discard, prepareContent, readContent } from './content.ts';
import type { AddedMessage, ImportResult, ListedFolder, StoredMessage } from './contents.ts';
import { countDeliveriesAt, FOR_EVER, insertDelivery, listKnownDeliveries } from './delivery-store.ts';
import { flagNames, readFlags } from './flags.ts';
import { createFolder, findFolder, listFolders, subscribe } from './folders.ts';
import { listKeywordSets, NO_KEYWORDS } from './keyword-store.ts';
import { listMessagesAfter } from './message-store.ts';
import { settleFlags } from './settle-flags.ts';
import type { AccountTx } from './store.ts';

type Import = Omit<Addition, 'messages'> & {
  messages: readonly (Addition['messages'][number] & Pick<AddedMessage, 'deliveryId' | 'otherIds'>)[];
  now: number;
};

/**
 * Ids of imports are kept for ever, since people repeat an import after years. When the account is full, the error rolls the write back,
 * and the ids with it.
 */
const insertImported = defineWrite(
  'account.import',
  async (
    tx: AccountTx,
    { messages, now, ...to }: Import,
  ): Promise<(Committed & { withoutKeywords: number }) | undefined> => {
    const added: Import['messages'][number][] = [];
    for (const message of messages)
      if (await insertDelivery(tx, { id: message.deliveryId, at: FOR_EVER })) added.push(message);
    for (const id of added.flatMap(({ otherIds = [] }) => otherIds))
      await insertDelivery(tx, { id, at: FOR_EVER });
    if (added.length === 0) return undefined;
    const committed = await addInWrite(tx, { ...to, messages: added, leavesKeywordsOut: true, now });
    if (!('refused' in committed)) {
      const { messages: stored } = committed;
      const withoutKeywords = added.filter(
        ({ keywords }, index) => keywords.length > 0 && stored[index]?.keywordSetId === NO_KEYWORDS,
      ).length;
      return { ...committed, withoutKeywords };
    }
    throw committed.refused === 'quota'
      ? new AppError('invalid_state', 'The mailbox is full; raise its quota')
      : notFound('Folder');
  },
  { crashPoints: { beforeCommit: 'import-before-commit', afterCommit: 'import-after-commit' } },
);

/**
 * Maximum number of ids of imports that an account keeps. They are outside of its quota, since they stay when the messages are removed,
 * and take about 800 MB. A message from another server has two.
 */
const MAX_IMPORT_IDS = 4_000_000;

/** At least the number of ids of imports that each open account keeps. Counting reads all ids, so it is done once while an account is open. */
const keptIds = new WeakMap<OpenAccount, number>();

/**
 * Checks that the account may keep as many further ids of imports. They count as kept from then on, whether they are stored or not, until
 * there seems to be no more space.
 * @throws AppError invalid_state when there is none
 */
async function reserveImportIds(account: OpenAccount, count: number, maxIds: number): Promise<void> {
  let kept = keptIds.get(account);
  if (kept === undefined || kept + count > maxIds) kept = await countDeliveriesAt(account.db.read, FOR_EVER);
  if (kept + count > maxIds)
    throw new AppError('invalid_state', 'The mailbox has imported as many messages as it can remember');
  keptIds.set(account, kept + count);
}

type ToImport = {
  folder: string;
  messages: readonly AddedMessage[];
  quotaBytes: number;
  /** Maximum number of ids of imports that the account keeps. */
  maxIds?: number;
};

/**
 * Adds messages to a folder, which is created when there is none, in one commit. Messages that were added before are left out.
 * Returns how many the others are, and how many of them are without their keywords, for which there was no space.
 * @throws AppError unavailable; invalid_state when the account is full, or keeps too many ids of imports; DamagedDatabaseError
 */
export async function importMessages(
  account: OpenAccount,
  { folder, messages, quotaBytes, maxIds = MAX_IMPORT_IDS }: ToImport,
): Promise<ImportResult> {
  const ids = messages.reduce((sum, { otherIds = [] }) => sum + 1 + otherIds.length, 0);
  await reserveImportIds(account, ids, maxIds);
  await ensureFolder(account, folder);
  const prepared = await prepare(account, messages);
  const input: Import = { folder, messages: prepared, quotaBytes, now: account.app.clock.now() };
  const contents = prepared.map(({ content }) => content);
  const { committed } = await settle(account, contents, async () => ({
    committed: await account.db.commit(insertImported, input, (result) => {
      if (result) publishAdded(account, result);
    }),
  }));
  if (!committed || !('uids' in committed)) return { added: 0, withoutKeywords: 0 };
  return { added: committed.uids.length, withoutKeywords: committed.withoutKeywords };
}

async function ensureFolder(account: OpenAccount, name: string): Promise<void> {
  if (await findFolder(account, name)) return;
  await createFolder(account, name);
  await subscribe(account, name);
}

async function prepare(account: OpenAccount, messages: readonly AddedMessage[]): Promise<Import['messages']> {
  const prepared: Import['messages'][number][] = [];
  try {
    for (const { deliveryId, otherIds = [], flags, receivedAt, content } of messages)
      prepared.push({
        deliveryId,
        otherIds,
        content: await prepareContent(account, 'path' in content ? content : [content]),
        ...readFlags(flags),
        internalDate: { atMs: receivedAt, zoneMinutes: 0 },
      });
    return prepared;
  } catch (error) {
    for (const { content } of prepared) await discard(account, content);
    throw error;
  }
}

/** Returns those of the delivery ids that are not stored. */
export async function findMissing(account: OpenAccount, deliveryIds: readonly string[]): Promise<string[]> {
  const known = await listKnownDeliveries(account.db.read, deliveryIds);
  return deliveryIds.filter((id) => !known.has(id));
}

const insertKnown = defineWrite(
  'account.rememberDeliveries',
  async (tx: AccountTx, { ids }: { ids: readonly string[] }): Promise<void> => {
    for (const id of ids) await insertDelivery(tx, { id, at: FOR_EVER });
  },
);

/**
 * Stores further delivery ids of messages that were added before, for ever.
 * @throws AppError invalid_state when the account keeps too many
 */
export async function rememberDeliveries(
  account: OpenAccount,
  deliveryIds: readonly string[],
  maxIds: number = MAX_IMPORT_IDS,
): Promise<void> {
  await reserveImportIds(account, deliveryIds.length, maxIds);
  await account.db.commit(insertKnown, { ids: deliveryIds });
}

/** Returns all folders by name. */
export async function listForExport(account: OpenAccount): Promise<ListedFolder[]> {
  const { folders } = await listFolders(account);
  return folders.map(({ name, uidValidity, messageCount }) => ({ name, uidValidity, messageCount }));
}

/** Maximum number of messages of one slice. */
const MAX_MESSAGES = 200;

/**
 * Returns the next messages of a folder by UID, at least one unless there is none, and then as many as have at most `maxBytes`.
 * @throws AppError not_found; DamagedBlobError
 */
export async function readForExport(
  account: OpenAccount,
  { folder: name, afterUid, maxBytes }: { folder: string; afterUid: number; maxBytes: number },
): Promise<StoredMessage[]> {
  const folder = await findFolder(account, name);
  if (!folder) throw notFound('Folder');
  await settleFlags(account, folder.id);
  const { read } = account.db;
  const keywords = await listKeywordSets(read);
  const slice: StoredMessage[] = [];
  let bytes = 0;
  for (const row of await listMessagesAfter(read, { folderId: folder.id, afterUid, limit: MAX_MESSAGES })) {
    bytes += row.sizeBytes;
    if (slice.length > 0 && bytes > maxBytes) break;
    slice.push({
      uid: row.uid,
      flags: flagNames({ flags: row.flags, keywords: keywords.get(row.keywordSetId) ?? [] }),
      receivedAt: row.internalAt,
      content: Buffer.concat([row.prefix, await readContent(account, row.contentId)]),
    });
  }
  return slice;
}
