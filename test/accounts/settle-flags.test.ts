/** A change of the flags of many messages is committed before their rows are written. Nothing may ever see the old flags. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { changeForeseenFlags, makePlainEdits } from '../../src/accounts/change-flags.ts';
import { checkAccount } from '../../src/accounts/check.ts';
import { listWrongFolders } from '../../src/accounts/check-store.ts';
import { findFolder } from '../../src/accounts/folders.ts';
import { stateOf } from '../../src/accounts/imap/account-state.ts';
import { listSummaries } from '../../src/accounts/message-store.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { applyNextEdit, countPendingEdits } from '../../src/accounts/pending-edit-store.ts';
import { repairAccount } from '../../src/accounts/repair.ts';
import { SETTLING_MS } from '../../src/accounts/settle-flags.ts';
import { readForExport } from '../../src/accounts/transfer.ts';
import { message, ok, openerOf } from '../mail/imap/letter.ts';
import { createAccountMail, mailOf } from '../support/account-mail.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createAccountApp } from '../support/test-account.ts';

const app = createAccountApp();
const mail = await createAccountMail({ app });
const { account } = mail;
const open = openerOf(mail);
const SUBJECTS = Array.from({ length: 10 }, (_, index) => `${index}`);

/** Returns the flags in the rows of a folder. */
async function rowsOf(name: string, { db }: OpenAccount = account): Promise<number[]> {
  const folderId = (await findFolder({ db } as OpenAccount, name))?.id ?? 0;
  const rows = await listSummaries(db.read, { folderId, uidFrom: 1, uidTo: 1_000 });
  return rows.map(({ flags }) => flags);
}

async function pendingIn(name: string): Promise<number> {
  return await countPendingEdits(account.db.read, (await findFolder(account, name))?.id ?? 0);
}

/** Opens a folder with messages that all got a flag which their rows do not have. */
async function openPending(t: TestContext, flag: string) {
  const opened = await open(t, SUBJECTS);
  await ok(opened.ask, `STORE 1:* +FLAGS.SILENT (${flag})`);
  assert.deepEqual(
    await rowsOf(opened.mailbox),
    SUBJECTS.map(() => 0),
  );
  assert.equal(await pendingIn(opened.mailbox), 1);
  return opened;
}

const all = (flags: number): number[] => SUBJECTS.map(() => flags);

test('rows are written a second after the last change, and counts at once', async (t) => {
  const { ask, mailbox } = await openPending(t, '\\Seen');
  assert.equal((await findFolder(account, mailbox))?.unseenCount, 0);
  await app.clock.advance(SETTLING_MS - 1);
  await ok(ask, 'STORE 1:* +FLAGS.SILENT (\\Flagged)');
  await app.clock.advance(SETTLING_MS - 1);
  assert.deepEqual(await rowsOf(mailbox), all(0));
  await app.clock.advance(1);
  for (let turn = 0; turn < 100 && (await pendingIn(mailbox)) > 0; turn++) await new Promise(setImmediate);
  assert.deepEqual(await rowsOf(mailbox), all(5));
});

test('rows of many messages are written in slices', async (t) => {
  const { mailbox } = await openPending(t, '\\Seen');
  const folderId = (await findFolder(account, mailbox))?.id ?? 0;
  await applyNextEdit(account.db.read, folderId, 4);
  assert.deepEqual(await rowsOf(mailbox), [...all(1).slice(0, 4), ...all(0).slice(4)]);
  while (await applyNextEdit(account.db.read, folderId, 4)) {}
  assert.deepEqual(await rowsOf(mailbox), all(1));
});

test('a change of few messages follows the edits that are pending', async (t) => {
  const { ask, mailbox } = await openPending(t, '\\Seen');
  await ok(ask, 'STORE 2 FLAGS.SILENT (\\Flagged)');
  assert.deepEqual(await rowsOf(mailbox), [1, 4, ...all(1).slice(2)]);
});

test('COPY, MOVE, REPLACE and EXPUNGE find the flags that clients know', async (t) => {
  const { ask, mailbox } = await openPending(t, '\\Seen');
  for (const name of ['copied', 'moved']) await ok(ask, `CREATE ${name}`);
  await ok(ask, 'COPY 1:* copied');
  assert.deepEqual(await rowsOf('copied'), all(1));
  await ok(ask, 'STORE 1:* +FLAGS.SILENT (\\Flagged)');
  await ok(ask, 'MOVE 1:* moved');
  assert.deepEqual(await rowsOf('moved'), all(5));
  await ok(ask, 'SELECT moved');
  await ok(ask, 'STORE 1:* +FLAGS.SILENT (\\Deleted)');
  const text = message('new');
  await ok(ask, `REPLACE 1 moved {${text.length}+}\r\n${text}`);
  assert.deepEqual(await rowsOf('moved'), [...all(13).slice(1), 0]);
  await ok(ask, 'STORE 1:* -FLAGS.SILENT (\\Deleted)');
  await ok(ask, 'STORE 3:* +FLAGS.SILENT (\\Deleted)');
  await ok(ask, 'EXPUNGE');
  assert.deepEqual(await rowsOf('moved'), [5, 5]);
  assert.deepEqual((await checkAccount(account)).findings, []);
  assert.deepEqual(await rowsOf(mailbox), []);
});

test('RENAME of INBOX moves the flags that clients know', async (t) => {
  const { ask } = await open(t, []);
  for (const subject of SUBJECTS) await mail.deliver('INBOX', message(subject));
  for (const command of ['SELECT INBOX', 'STORE 1:* +FLAGS.SILENT (\\Seen)', 'RENAME INBOX old'])
    await ok(ask, command);
  assert.deepEqual(await rowsOf('old'), all(1));
  await ok(ask, 'DELETE old');
});

test('a folder that is deleted leaves no edit behind', async (t) => {
  const { ask, mailbox } = await openPending(t, '\\Seen');
  await ok(ask, `DELETE ${mailbox}`);
  const left = await account.db.read.selectFrom('pendingEdits').selectAll().execute();
  assert.deepEqual(left, []);
});

test('STATUS, an export, a check and a folder that is loaded read no old flags', async (t) => {
  const { ask, mailbox } = await openPending(t, '\\Deleted');
  const [status = ''] = await ok(ask, `STATUS ${mailbox} (DELETED DELETED-STORAGE)`);
  assert.match(status, /DELETED 10 DELETED-STORAGE [1-9]/);
  await ok(ask, 'STORE 1:* FLAGS.SILENT (\\Seen)');
  const exported = await readForExport(account, { folder: mailbox, afterUid: 0, maxBytes: 1e6 });
  assert.deepEqual(
    exported.map(({ flags }) => flags.join()),
    SUBJECTS.map(() => '\\Seen'),
  );
  await ok(ask, 'STORE 1:* FLAGS.SILENT (\\Flagged)');
  assert.deepEqual(await listWrongFolders(account.db.read), []);
  assert.deepEqual((await checkAccount(account)).findings, []);
  assert.deepEqual(await rowsOf(mailbox), all(4));
  await ok(ask, 'STORE 1:* FLAGS.SILENT (\\Draft)');
  // Only the folders that were selected last stay in memory.
  for (const name of ['Sent', 'Drafts', 'Junk', mailbox]) await ok(ask, `SELECT ${name}`);
  assert.match((await ok(ask, 'FETCH 3 FLAGS')).join(), /\\Draft/);
});

test('after the daemon was killed, the flags are there, also when the account is repaired', async (t) => {
  const { mailbox } = await openPending(t, '\\Seen');
  for (const isRepaired of [false, true]) {
    const folder = join(temporaryDirectory('killed'), 'mbx_1');
    cpSync(account.folder, folder, { recursive: true });
    if (isRepaired) await repairAccount(app, { id: 'mbx_1', folder });
    const again = await openAccount(app, { id: 'mbx_1', folder });
    t.after(() => again.close());
    assert.deepEqual(await rowsOf(mailbox, again), all(isRepaired ? 1 : 0));
    const other = await openerOf(mailOf(again))(t, []);
    await ok(other.ask, `SELECT ${mailbox}`);
    assert.equal(
      (await ok(other.ask, 'FETCH 1:* FLAGS')).filter((line) => line.includes('\\Seen')).length,
      10,
    );
    assert.deepEqual((await checkAccount(again)).findings, []);
  }
});

test('what was foreseen counts only while nothing else has changed', async (t) => {
  const { mailbox, deliver } = await open(t, SUBJECTS);
  const folderId = (await findFolder(account, mailbox))?.id ?? 0;
  const state = await stateOf(account).enter(folderId);
  const ranges = [{ uidFrom: 1, uidTo: 10 }];
  const change = { ranges, action: 'add' as const, names: ['\\Seen'], unchangedSince: undefined };
  const edits = makePlainEdits(change) ?? [];
  const foreseen = state?.foresee(edits);
  assert.ok(foreseen);
  await deliver(message('in between'));
  assert.equal(await account.db.commit(changeForeseenFlags, { folderId, edits, foreseen }), undefined);
  assert.equal(await pendingIn(mailbox), 0);
  assert.equal((await findFolder(account, mailbox))?.unseenCount, 11);
});

test('a folder has at most 16 edits that its rows do not have', async (t) => {
  const { ask, mailbox } = await open(t, SUBJECTS);
  let most = 0;
  for (let count = 0; count < 20; count++) {
    await ok(ask, `STORE 1:* ${count % 2 === 0 ? '+' : '-'}FLAGS.SILENT (\\Seen)`);
    most = Math.max(most, await pendingIn(mailbox));
  }
  assert.equal(most, 16);
  assert.equal((await findFolder(account, mailbox))?.unseenCount, 10);
});
