import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { INLINE_BYTES } from '../../src/accounts/content.ts';
import { releaseContents } from '../../src/accounts/content-store.ts';
import { insertDelivery } from '../../src/accounts/delivery-store.ts';
import { insertExpunged } from '../../src/accounts/expunged-store.ts';
import { contentFolder } from '../../src/accounts/folder.ts';
import { createFolder, deleteFolder, findFolder } from '../../src/accounts/folders.ts';
import { internKeywords, listKeywordSets } from '../../src/accounts/keyword-store.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { removeUnused, sweepStrayFiles } from '../../src/accounts/remove-unused.ts';
import { pathOf } from '../../src/blobs/files.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { recordLog } from '../support/record-log.ts';
import {
  addTestMessages,
  createAccountApp,
  messageOf,
  openTestAccount,
  START_MS,
} from '../support/test-account.ts';

const { log, lines } = recordLog('info');
const app = createAccountApp({ log });
const account = await openTestAccount(app);
after(() => account.close());

const count = async (table: 'messages' | 'contents' | 'contentBytes' | 'expunged' | 'deliveries') =>
  Number(
    (
      await account.db.read
        .selectFrom(table)
        .select(({ fn }) => fn.countAll().as('n'))
        .execute()
    )[0]?.n,
  );

/** Returns the files of contents. */
function files(): string[] {
  return readdirSync(contentFolder(account.folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^..\/[0-9a-f]{64}$/.test(name),
  );
}

test('the messages of a deleted folder, their contents and their files are removed', async () => {
  await createFolder(account, 'gone');
  const large = messageOf('large', INLINE_BYTES + 100);
  await addTestMessages(account, 'gone', [
    large,
    ...Array.from({ length: 250 }, (_, i) => messageOf(`m${i}`)),
  ]);
  await addTestMessages(account, 'INBOX', [messageOf('kept')]);
  const { id } = (await findFolder(account, 'gone'))!;
  await insertExpunged(account.db.read, { folderId: id, modseq: 1, uids: [1] });
  await deleteFolder(account, 'gone');
  assert.equal(await count('messages'), 252);
  assert.equal(files().length, 1);
  await removeUnused(account);
  assert.deepEqual(
    [await count('messages'), await count('contents'), await count('contentBytes'), await count('expunged')],
    [1, 1, 1, 0],
  );
  assert.deepEqual(files(), []);
});

test('a file stays while another content is in it', async () => {
  const tx = account.db.read;
  const bytes = messageOf('twice', INLINE_BYTES + 300);
  const [uid] = await addTestMessages(account, 'INBOX', [bytes, bytes]);
  const { contentId } = await tx
    .deleteFrom('messages')
    .where('uid', '=', uid!)
    .returning('contentId')
    .executeTakeFirstOrThrow();
  await releaseContents(tx, [contentId]);
  await removeUnused(account);
  assert.equal(files().length, 1);
});

test('ids of deliveries are forgotten after 90 days', async () => {
  for (const days of [100, 91, 89])
    await insertDelivery(account.db.read, { id: `${days} days old`, at: START_MS - days * DAY_MS });
  await removeUnused(account);
  const ids = await account.db.read.selectFrom('deliveries').select('id').execute();
  assert.deepEqual(ids, [{ id: '89 days old' }]);
});

test('sets of keywords that no message has are removed, and their ids are not used again', async () => {
  const { db } = account;
  const wordsOf = async () => [...(await listKeywordSets(db.read)).values()].flat();
  const removed = await internKeywords(db.read, ['$Removed']);
  await addTestMessages(account, 'INBOX', [{ bytes: messageOf('keyword'), keywords: ['$Kept'] }]);
  const highest = await internKeywords(db.read, ['$Highest']);
  await removeUnused(account);
  assert.deepEqual(await wordsOf(), ['$Kept', '$Highest']);
  const again = await internKeywords(db.read, ['$Removed']);
  assert.ok(again > highest && again !== removed);
  await removeUnused(account);
  assert.deepEqual(await wordsOf(), ['$Kept', '$Removed']);
});

test('a folder remembers the last 10,000 ranges of removed UIDs, and where older ones may be missing', async () => {
  const { id } = await createFolder(account, 'tombstones');
  await account.db.maintain((connection) => {
    const add = connection.prepare('INSERT INTO expunged VALUES (?, ?, ?, ?)');
    connection.transaction(() => {
      for (let modseq = 1; modseq <= 10_003; modseq++) add.run(id, modseq, modseq, modseq);
    })();
  });
  await removeUnused(account);
  assert.equal(await count('expunged'), 10_000);
  assert.equal((await findFolder(account, 'tombstones'))?.tombstoneFloor, 3);
});

/** Creates a file that no content names, of this age. */
function strayFile(root: string, digit: string, ageMs: number): string {
  const path = pathOf(root, digit.repeat(64));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'stray');
  utimesSync(path, (START_MS - ageMs) / 1_000, (START_MS - ageMs) / 1_000);
  return path;
}

test('an old file that no content names goes to the trash; a young one and a prepared one stay', async () => {
  const root = contentFolder(account.folder);
  const old = strayFile(root, 'a', DAY_MS);
  const young = strayFile(root, 'b', 1_000);
  const prepared = strayFile(root, 'c', DAY_MS);
  account.preparedFiles.add('c'.repeat(64));
  await sweepStrayFiles(account);
  assert.deepEqual([old, young, prepared].map(existsSync), [false, true, true]);
  assert.ok(existsSync(join(root, 'trash', 'a'.repeat(64))));
  account.preparedFiles.delete('c'.repeat(64));
});

test('many files without a content are left alone, since the database may be an old one', async () => {
  const root = contentFolder(account.folder);
  const paths = Array.from('0123456789abcdef', (digit) => strayFile(root, digit, DAY_MS));
  lines.length = 0;
  await sweepStrayFiles(account);
  assert.ok(paths.every(existsSync));
  assert.match(lines[0]?.msg ?? '', /may be an old one/);
});

test('an open account removes what is not needed every ten minutes, and when it is closed', async () => {
  const own = createAccountApp();
  const other = await openTestAccount(own);
  const left = async (opened: OpenAccount) =>
    (await opened.db.read.selectFrom('messages').select('uid').execute()).length;
  const remove = async (opened: OpenAccount) => {
    await createFolder(opened, 'gone');
    await addTestMessages(opened, 'gone', [messageOf('x')]);
    await deleteFolder(opened, 'gone');
  };
  await remove(other);
  await own.clock.advance(599_000);
  assert.equal(await left(other), 1);
  await own.clock.advance(1_000);
  for (let turn = 0; turn < 50 && (await left(other)) > 0; turn++) await new Promise(setImmediate);
  assert.equal(await left(other), 0);
  await remove(other);
  await other.close();
  const again = await openAccount(own, { id: 'mbx_1', folder: other.folder });
  assert.equal(await left(again), 0);
  await again.close();
});
