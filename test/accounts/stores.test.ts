import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import {
  findContent,
  findHeader,
  listReleased,
  releaseContents,
  removeUnusedContents,
} from '../../src/accounts/content-store.ts';
import { insertExpunged } from '../../src/accounts/expunged-store.ts';
import {
  changeCounts,
  findFolderById,
  findFolderByName,
  insertFolder,
  reserveUids,
} from '../../src/accounts/folder-store.ts';
import {
  findKeywords,
  internKeywords,
  listKeywordSets,
  NO_KEYWORDS,
} from '../../src/accounts/keyword-store.ts';
import { findMessage, insertMessage } from '../../src/accounts/message-store.ts';
import { findAccountRow, nextModseq, nextUidValidity } from '../../src/accounts/store.ts';
import type { MessageRow } from '../../src/accounts/tables.ts';
import { addTestMessages, messageOf, openTestAccount, START_MS } from '../support/test-account.ts';

let account: OpenAccount;
before(async () => {
  account = await openTestAccount();
});
after(() => account.close());

test('a UIDVALIDITY is never given twice, whatever the clock shows', async () => {
  const tx = account.db.read;
  const seconds = START_MS / 1_000;
  assert.equal(await nextUidValidity(tx, START_MS), seconds + 6);
  assert.equal(await nextUidValidity(tx, START_MS - 1_000_000), seconds + 7);
  assert.equal(await nextUidValidity(tx, START_MS + 60_000), seconds + 60);
});

test('a set of keywords is stored once', async () => {
  const tx = account.db.read;
  assert.equal(await internKeywords(tx, []), NO_KEYWORDS);
  const id = await internKeywords(tx, ['$Forwarded', 'a']);
  assert.equal(await internKeywords(tx, ['$Forwarded', 'a']), id);
  assert.notEqual(await internKeywords(tx, ['a']), id);
  assert.deepEqual(await findKeywords(tx, id), ['$Forwarded', 'a']);
  assert.deepEqual(await findKeywords(tx, NO_KEYWORDS), []);
  assert.deepEqual((await listKeywordSets(tx)).get(id), ['$Forwarded', 'a']);
});

test('the sets of keywords of an account have a limit, and those that exist stay in use', async () => {
  const words = (set: number) => Array.from({ length: 128 }, (_, word) => `${set}.${word}`.padEnd(255, 'k'));
  let sets = 0;
  const intern = async () => {
    for (; sets < 200; sets++) await internKeywords(account.db.read, words(sets));
  };
  await assert.rejects(intern(), /too many different sets of keywords/);
  assert.ok(sets > 100 && sets < 130, `${sets} sets`);
  assert.deepEqual(
    await findKeywords(account.db.read, await internKeywords(account.db.read, words(1))),
    words(1),
  );
  await account.db.maintain((connection) => connection.exec('DELETE FROM keywordSets'));
});

test('UIDs are reserved in one piece and never again', async () => {
  const tx = account.db.read;
  const { id } = await insertFolder(tx, { name: 'uids', specialUse: null, now: START_MS });
  assert.deepEqual([await reserveUids(tx, id, 3), await reserveUids(tx, id, 1)], [1, 4]);
  assert.equal((await findFolderById(tx, id))?.uidNext, 5);
});

test('counts of a folder change with those of the account, and HIGHESTMODSEQ never falls', async () => {
  const tx = account.db.read;
  const { id: folderId } = await insertFolder(tx, { name: 'counts', specialUse: null, now: START_MS });
  const modseq = await nextModseq(tx);
  const counts = { messageCount: 2, unseenCount: 1, deletedCount: 1, sizeBytes: 500 };
  await changeCounts(tx, { folderId, modseq, ...counts });
  await changeCounts(tx, {
    folderId,
    modseq: 1,
    messageCount: -1,
    unseenCount: 0,
    deletedCount: -1,
    sizeBytes: -200,
  });
  const folder = await findFolderByName(tx, 'counts');
  const { messageCount, unseenCount, deletedCount, sizeBytes, highestModseq } = folder!;
  assert.deepEqual(
    [messageCount, unseenCount, deletedCount, sizeBytes, highestModseq],
    [1, 1, 0, 300, modseq],
  );
  const row = await findAccountRow(tx);
  assert.deepEqual([row?.usedBytes, row?.messageCount], [300, 1]);
});

test('a message is found by its folder and UID', async () => {
  const tx = account.db.read;
  const row: MessageRow = {
    folderId: 1,
    uid: 7,
    emailId: 'M1',
    contentId: 3,
    modseq: 9,
    createdModseq: 9,
    flags: 1,
    keywordSetId: 0,
    internalAt: START_MS,
    internalZoneMinutes: -330,
    savedAt: START_MS,
    sizeBytes: 12,
    prefix: Buffer.from('A: b\r\n'),
  };
  await insertMessage(tx, row);
  assert.deepEqual(await findMessage(tx, { folderId: 1, uid: 7 }), row);
  assert.equal(await findMessage(tx, { folderId: 2, uid: 7 }), undefined);
});

test('UIDs that were removed by a change are kept as ranges', async () => {
  const tx = account.db.read;
  await insertExpunged(tx, { folderId: 9, modseq: 4, uids: [2, 3, 4, 7, 9, 10] });
  const rows = await tx
    .selectFrom('expunged')
    .select(['uidFrom', 'uidTo'])
    .where('folderId', '=', 9)
    .execute();
  assert.deepEqual(
    rows.map(({ uidFrom, uidTo }) => [uidFrom, uidTo]),
    [
      [2, 4],
      [7, 7],
      [9, 10],
    ],
  );
});

test('a released content is removed unless a message has it', async () => {
  const tx = account.db.read;
  await addTestMessages(account, 'INBOX', [messageOf('kept'), messageOf('removed')]);
  const [kept, removed] = (await tx.selectFrom('contents').select('id').execute()).map(({ id }) => id);
  await tx.deleteFrom('messages').where('contentId', '=', removed!).execute();
  await releaseContents(tx, [kept!, removed!, removed!]);
  assert.deepEqual(await listReleased(tx, 0, 10), [kept, removed]);
  assert.deepEqual(await listReleased(tx, kept!, 10), [removed]);
  assert.deepEqual(await removeUnusedContents(tx, [kept!, removed!]), { removed: [removed], files: [] });
  assert.deepEqual(await listReleased(tx, 0, 10), []);
  assert.ok(await findContent(tx, kept!));
  assert.equal(await findHeader(tx, removed!), undefined);
});
