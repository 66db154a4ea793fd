import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { accountFolder, indexFile } from '../../src/accounts/folder.ts';
import { listFolderRows, listSubscriptions } from '../../src/accounts/folder-store.ts';
import { createAccount, openAccount } from '../../src/accounts/open.ts';
import { findAccountRow } from '../../src/accounts/store.ts';
import { DamagedDatabaseError } from '../../src/db/private-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import {
  addTestMessages,
  createAccountApp,
  messageOf,
  openTestAccount,
  START_MS,
} from '../support/test-account.ts';

const app = createAccountApp();

test('a new account has the usual folders with their special use, all subscribed', async () => {
  const account = await openTestAccount();
  const folders = await listFolderRows(account.db.read);
  assert.deepEqual(
    folders.map(({ name, specialUse }) => `${name} ${specialUse}`),
    ['Archive \\Archive', 'Drafts \\Drafts', 'INBOX null', 'Junk \\Junk', 'Sent \\Sent', 'Trash \\Trash'],
  );
  assert.deepEqual(
    await listSubscriptions(account.db.read),
    folders.map(({ name }) => name),
  );
  const seconds = START_MS / 1_000;
  assert.deepEqual(
    folders.map(({ uidValidity }) => uidValidity).sort(),
    [0, 1, 2, 3, 4, 5].map((index) => seconds + index),
  );
  assert.equal(new Set(folders.map(({ objectId }) => objectId)).size, 6);
  assert.deepEqual(folders.map(({ highestModseq }) => highestModseq).sort(), [1, 2, 3, 4, 5, 6]);
  await account.close();
});

test('creating an account again changes nothing', async () => {
  const account = await openTestAccount();
  const before = await listFolderRows(account.db.read);
  await account.db.commit(createAccount, { now: START_MS + 1 });
  assert.deepEqual(await listFolderRows(account.db.read), before);
  await account.close();
});

test('an account whose database is missing is damaged, not new', async () => {
  const folder = accountFolder(temporaryDirectory('account'), 'mbx_1');
  const opening = openAccount(app, { id: 'mbx_1', folder });
  await assert.rejects(opening, DamagedDatabaseError);
  const account = await openTestAccount(app, folder);
  await account.close();
  rmSync(indexFile(folder));
  await assert.rejects(openAccount(app, { id: 'mbx_1', folder }), /is missing/);
});

test('the folder of an account is readable by its owner alone', async () => {
  const account = await openTestAccount();
  assert.equal(statSync(account.folder).mode & 0o777, 0o700);
  await account.close();
});

/** Returns a copy of an account as kill -9 would leave it. */
async function interruptedAccount(): Promise<string> {
  const account = await openTestAccount(app);
  const folder = join(temporaryDirectory('account'), 'mbx_1');
  cpSync(account.folder, folder, { recursive: true });
  await account.close();
  return folder;
}

test('an account that was interrupted opens with everything that was committed', async () => {
  const folder = await interruptedAccount();
  assert.ok(statSync(`${indexFile(folder)}-wal`).size > 0);
  const account = await openAccount(app, { id: 'mbx_1', folder });
  assert.equal((await listFolderRows(account.db.read)).length, 6);
  assert.equal((await findAccountRow(account.db.read))?.lastModseq, 6);
  await account.close();
});

test('flipped bytes are found when an account is opened after it was interrupted', async () => {
  const whole = await interruptedAccount();
  const first = await openAccount(app, { id: 'mbx_1', folder: whole });
  await first.db.maintain((connection) => connection.pragma('wal_checkpoint(FULL)'));
  const folder = join(temporaryDirectory('account'), 'mbx_1');
  cpSync(whole, folder, { recursive: true });
  await first.close();
  const file = indexFile(folder);
  const bytes = readFileSync(file);
  const at = bytes.lastIndexOf('Archive');
  // The header of the page that holds a row.
  bytes.fill(0xff, at - (at % 4_096) + 8, at - (at % 4_096) + 16);
  writeFileSync(file, bytes);
  writeFileSync(`${file}-wal`, 'no longer readable');
  await assert.rejects(openAccount(app, { id: 'mbx_1', folder }), DamagedDatabaseError);
});

test('an older copy of the database gets new UIDVALIDITYs and search texts, and modseqs that go on', async () => {
  const account = await openTestAccount(app);
  const { folder } = account;
  await account.close();
  const copy = readFileSync(indexFile(folder));
  const open = async (lastModseq: number) => {
    const opened = await openAccount(app, { id: 'mbx_1', folder, lastModseq });
    const row = await findAccountRow(opened.db.read);
    const folders = await listFolderRows(opened.db.read);
    const values = folders.map(({ uidValidity }) => uidValidity);
    return { opened, row, values };
  };
  const first = await open(6);
  await addTestMessages(first.opened, 'INBOX', [messageOf('lost')]);
  await first.opened.close();
  writeFileSync(indexFile(folder), copy);
  const restored = await open(7);
  await restored.opened.close();
  assert.ok(Math.min(...restored.values) > Math.max(...first.values));
  assert.notEqual(restored.row?.identity, first.row?.identity);
  assert.equal(restored.row?.lastModseq, 7);
  const again = await open(7);
  await again.opened.close();
  assert.deepEqual([again.row, again.values], [restored.row, restored.values]);
});
