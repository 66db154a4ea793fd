import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { FolderChange } from '../../src/accounts/changes.ts';
import type { AddedMessage } from '../../src/accounts/contents.ts';
import { deleteOldDeliveries } from '../../src/accounts/delivery-store.ts';
import { deleteFolder, findFolder, listFolders } from '../../src/accounts/folders.ts';
import { findAccountRow } from '../../src/accounts/store.ts';
import {
  findMissing,
  importMessages,
  listForExport,
  readForExport,
  rememberDeliveries,
} from '../../src/accounts/transfer.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { AppError } from '../../src/system/errors.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { messageOf, openTestAccount, START_MS } from '../support/test-account.ts';

const account = await openTestAccount();
after(() => account.close());
const QUOTA = 10_000_000;

function added(deliveryId: string, fields: Partial<AddedMessage> = {}): AddedMessage {
  return { deliveryId, flags: [], receivedAt: 1_000, content: messageOf(deliveryId), ...fields };
}

const add = (folder: string, ...messages: AddedMessage[]) =>
  importMessages(account, { folder, messages, quotaBytes: QUOTA });

test('messages are stored with their flags and dates, in a folder that is created and subscribed', async () => {
  const flags = ['\\Seen', '\\Flagged', 'todo', '\\Recent'];
  const large = messageOf('large', 300_000);
  assert.deepEqual(await add('Lists/dev', added('a', { flags }), added('b', { content: large })), {
    added: 2,
    withoutKeywords: 0,
  });
  const { subscriptions } = await listFolders(account);
  assert.ok(subscriptions.includes('Lists/dev'));
  const [one, two, ...more] = await readForExport(account, {
    folder: 'Lists/dev',
    afterUid: 0,
    maxBytes: 1_000_000,
  });
  assert.deepEqual(one, {
    uid: 1,
    flags: ['\\Seen', '\\Flagged', 'todo'],
    receivedAt: 1_000,
    content: messageOf('a'),
  });
  assert.ok(two && large.equals(two.content));
  assert.deepEqual(more, []);
  const listed = await listForExport(account);
  assert.deepEqual(listed.find(({ name }) => name === 'Lists/dev')?.messageCount, 2);
});

test('a message that was added once is left out, also after it was removed, and sessions are told about the others', async () => {
  const folder = await findFolder(account, 'INBOX');
  const changes: FolderChange[] = [];
  const end = account.changes.subscribe(folder?.id ?? 0, (change) => changes.push(change));
  assert.deepEqual(await add('INBOX', added('c'), added('d'), added('c')), { added: 2, withoutKeywords: 0 });
  assert.deepEqual(await add('INBOX', added('d'), added('e')), { added: 1, withoutKeywords: 0 });
  assert.deepEqual(await add('INBOX', added('d')), { added: 0, withoutKeywords: 0 });
  end();
  assert.deepEqual(
    changes.map((change) => change.kind === 'added' && change.messages.map(({ uid }) => uid)),
    [[1, 2], [3]],
  );
  assert.deepEqual(await findMissing(account, ['d', 'x', 'e']), ['x']);
  await add('Gone', added('g'));
  await deleteFolder(account, 'Gone');
  assert.deepEqual(await findMissing(account, ['g']), []);
});

test('further ids of a message are known once it is stored, and say nothing about others', async () => {
  assert.deepEqual(await add('INBOX', added('o1', { otherIds: ['o2'] })), { added: 1, withoutKeywords: 0 });
  assert.deepEqual(await findMissing(account, ['o1', 'o2', 'o3']), ['o3']);
  assert.deepEqual(await add('INBOX', added('o3', { otherIds: ['o2'] })), { added: 1, withoutKeywords: 0 });
  await add('INBOX', added('o1', { otherIds: ['o4'] }));
  assert.deepEqual(await findMissing(account, ['o4']), ['o4'], 'the message was not stored with it');
});

test('further ids that are remembered are known, and a message with one is left out', async () => {
  await rememberDeliveries(account, ['r1', 'r2']);
  await rememberDeliveries(account, ['r2']);
  assert.deepEqual(await findMissing(account, ['r1', 'r2', 'r3']), ['r3']);
  assert.deepEqual(await add('INBOX', added('r1')), { added: 0, withoutKeywords: 0 });
});

test('a file is linked, and stays', async () => {
  const content = messageOf('file', 300_000);
  const directory = temporaryDirectory('import');
  const path = join(directory, 'message');
  writeFileSync(path, content);
  const file = { path, sha256: hash('sha256', content, 'hex') };
  assert.deepEqual(await add('Files', added('f1', { content: file })), { added: 1, withoutKeywords: 0 });
  const [stored] = await readForExport(account, { folder: 'Files', afterUid: 0, maxBytes: 1_000_000 });
  assert.ok(stored && content.equals(stored.content));
  assert.ok(content.equals(readFileSync(path)));
  rmSync(directory, { recursive: true });
});

test('a slice ends before it is too large, and has at least one message', async () => {
  await add('Slices', ...['s1', 's2', 's3'].map((id) => added(id, { content: messageOf(id, 1_000) })));
  const read = async (afterUid: number, maxBytes: number) =>
    (await readForExport(account, { folder: 'Slices', afterUid, maxBytes })).map(({ uid }) => uid);
  assert.deepEqual(await read(0, 2_500), [1, 2]);
  assert.deepEqual(await read(0, 1), [1]);
  assert.deepEqual(await read(2, 2_500), [3]);
  assert.deepEqual(await read(3, 2_500), []);
  await assert.rejects(readForExport(account, { folder: 'None', afterUid: 0, maxBytes: 1 }), AppError);
});

test('an import that exceeds the quota adds nothing, and can be repeated', async () => {
  const { usedBytes = 0 } = (await findAccountRow(account.db.read)) ?? {};
  const messages = [added('q1'), added('q2')];
  const quotaBytes = usedBytes + messageOf('q1').length;
  await assert.rejects(importMessages(account, { folder: 'INBOX', messages, quotaBytes }), /full/);
  assert.deepEqual(await findMissing(account, ['q1', 'q2']), ['q1', 'q2']);
  assert.equal((await findAccountRow(account.db.read))?.usedBytes, usedBytes);
  assert.deepEqual(await add('INBOX', ...messages), { added: 2, withoutKeywords: 0 });
});

test('an account keeps a bounded number of ids of imports, also of messages that were removed', async () => {
  const one = await openTestAccount();
  const store = (...messages: AddedMessage[]) =>
    importMessages(one, { folder: 'Kept', messages, quotaBytes: QUOTA, maxIds: 4 });
  await store(added('k1', { otherIds: ['k2'] }), added('k3'));
  await deleteFolder(one, 'Kept');
  await assert.rejects(store(added('k4', { otherIds: ['k5'] })), { code: 'invalid_state' });
  await assert.rejects(rememberDeliveries(one, ['k4', 'k5'], 4), { code: 'invalid_state' });
  // Ids that were known before take no room, which is counted again when there seems to be none.
  assert.deepEqual(await store(added('k3')), { added: 0, withoutKeywords: 0 });
  assert.deepEqual(await store(added('k4')), { added: 1, withoutKeywords: 0 });
  await one.close();
});

test('messages whose keywords have no room are added without them', async () => {
  const words = (set: number) => Array.from({ length: 500 }, (_, word) => `${set}.${word}`.padEnd(255, 'k'));
  const messages = Array.from({ length: 34 }, (_, set) => added(`w${set}`, { flags: words(set) }));
  const { added: count, withoutKeywords } = await add('Keywords', ...messages, added('none'));
  assert.deepEqual([count, withoutKeywords], [35, 2]);
});

test('an import that is repeated after years adds nothing', async () => {
  assert.deepEqual(await add('Old', added('old')), { added: 1, withoutKeywords: 0 });
  assert.equal(await deleteOldDeliveries(account.db.read, START_MS + 10_000 * DAY_MS, 1_000), 0);
  assert.deepEqual(await add('Old', added('old')), { added: 0, withoutKeywords: 0 });
});
