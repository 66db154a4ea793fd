import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, test } from 'node:test';
import { INLINE_BYTES, prepareContent } from '../../src/accounts/content.ts';
import { deliver, findTarget } from '../../src/accounts/deliver.ts';
import { contentFolder } from '../../src/accounts/folder.ts';
import {
  createFolder,
  deleteFolder,
  findFolder,
  INBOX,
  listFolders,
  renameFolder,
} from '../../src/accounts/folders.ts';
import { findMessage } from '../../src/accounts/message-store.ts';
import { pathOf } from '../../src/blobs/files.ts';
import { createAccountApp, messageOf, openTestAccount, START_MS } from '../support/test-account.ts';

const reached: string[] = [];
const account = await openTestAccount(createAccountApp({ crashPoint: (name) => reached.push(name) }));
after(() => account.close());

const PREFIX = Buffer.from('Return-Path: <a@test.example>\r\n');

async function delivery(deliveryId: string, size = 0) {
  const content = await prepareContent(account, [messageOf(deliveryId, size)]);
  return { deliveryId, content, prefix: PREFIX, flags: 0, receivedAt: START_MS - 5_000 };
}

const messagesIn = async (name: string) => (await findFolder(account, name))?.messageCount;

test('a delivery is stored once, however often it is repeated, and leaves no file', async () => {
  const size = INLINE_BYTES + 1_000;
  const first = await deliver(account, await delivery('once', size));
  const inbox = (await findFolder(account, INBOX))!;
  assert.deepEqual(first, { folderId: inbox.id, uid: 1, isKnown: false });
  const again = await delivery('once', size);
  const file = pathOf(contentFolder(account.folder), again.content.row.blobSha256!);
  assert.deepEqual(await deliver(account, again), { isKnown: true });
  assert.equal(await messagesIn(INBOX), 1);
  assert.ok(existsSync(file), 'the file of the message');
  const other = { ...(await delivery('other', size)), deliveryId: 'once' };
  assert.deepEqual(await deliver(account, other), { isKnown: true });
  assert.equal(existsSync(pathOf(contentFolder(account.folder), other.content.row.blobSha256!)), false);
  const message = await findMessage(account.db.read, { folderId: inbox.id, uid: 1 });
  assert.deepEqual(
    [message?.internalAt, message?.savedAt, message?.prefix],
    [START_MS - 5_000, START_MS, PREFIX],
  );
});

test('deliveries of one turn with the same id are stored once', async () => {
  const before = (await messagesIn(INBOX))!;
  const outcomes = await Promise.all(
    [await delivery('twin'), await delivery('twin')].map((one) => deliver(account, one)),
  );
  const known = outcomes.map(({ isKnown }) => isKnown);
  assert.deepEqual(known, [false, true]);
  assert.equal(await messagesIn(INBOX), before + 1);
});

test('a folder is found by its special use, and INBOX takes what has no folder', async () => {
  await renameFolder(account, 'Junk', 'Spam');
  await deliver(account, { ...(await delivery('junk')), folder: { specialUse: '\\Junk' } });
  assert.equal(await messagesIn('Spam'), 1);
  await deleteFolder(account, 'Spam');
  const before = (await messagesIn(INBOX))!;
  await deliver(account, { ...(await delivery('junk again')), folder: { specialUse: '\\Junk' } });
  await deliver(account, { ...(await delivery('nowhere')), folder: { name: 'nowhere' } });
  await deliver(account, { ...(await delivery('archived')), folder: { name: 'Archive' } });
  assert.equal(await messagesIn(INBOX), before + 2);
  assert.equal(await messagesIn('Archive'), 1);
});

test('a folder whose name begins like a special use is a folder', async () => {
  await createFolder(account, '\\Archive', null);
  await deliver(account, { ...(await delivery('backslash')), folder: { name: '\\Archive' } });
  assert.equal(await messagesIn('\\Archive'), 1);
});

test('scripts create folders up to a limit', async () => {
  const target = { mailboxId: undefined, specialUse: undefined, createsMailbox: true, flags: [] };
  const { folders } = await listFolders(account);
  await createFolder(account, Array.from({ length: 499 - folders.length }, () => 'f').join('/'), null);
  assert.equal(await findTarget(account, { ...target, mailbox: 'last' }), 'last');
  assert.equal(await findTarget(account, { ...target, mailbox: 'more' }), undefined);
  assert.equal(await findTarget(account, { ...target, mailbox: 'last' }), 'last');
});

test('a delivery has a crash point on both sides of its commit', async () => {
  reached.length = 0;
  await deliver(account, await delivery('points'));
  assert.deepEqual(reached, ['mailbox-delivery-before-commit', 'mailbox-delivery-after-commit']);
});

test('deliveries of a message to several targets are stored once in each folder', async () => {
  await createFolder(account, 'Shared');
  const shared = async (id: string, name: string) =>
    deliver(account, { ...(await delivery(id)), sharedId: 'message', folder: { name } });
  const before = (await messagesIn(INBOX)) ?? 0;
  assert.equal((await shared('message/0', 'Shared')).isKnown, false);
  assert.equal((await shared('message/1', 'Missing')).isKnown, false);
  assert.equal((await shared('message/2', INBOX)).isKnown, true);
  assert.equal((await shared('message/3', 'Shared')).isKnown, true);
  assert.deepEqual([await messagesIn('Shared'), await messagesIn(INBOX)], [1, before + 1]);
});
