/** An account records which messages its owner moves to and from Junk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { changeFlags } from '../../src/accounts/change-flags.ts';
import { copyOrMove } from '../../src/accounts/copy-messages.ts';
import { findFolder } from '../../src/accounts/folders.ts';
import { listSignals, MAX_SIGNALS, MAX_SIGNALS_OF_CHANGE } from '../../src/accounts/spam-signal-store.ts';
import { addTestMessages, messageOf, openTestAccount } from '../support/test-account.ts';

const ALL = [{ uidFrom: 1, uidTo: 9_999 }];

async function folderId(account: OpenAccount, name: string): Promise<number> {
  return (await findFolder(account, name))?.id ?? assert.fail(name);
}

async function move(account: OpenAccount, from: string, to: string, isMove = true): Promise<void> {
  const copy = { ranges: ALL, removed: [], isMove, quotaBytes: null, now: 0 };
  const places = { folderId: await folderId(account, from), toFolderId: await folderId(account, to) };
  await account.db.commit(copyOrMove, { ...copy, ...places });
}

async function flag(
  account: OpenAccount,
  folder: string,
  change: { names: string[]; action?: 'add' | 'remove' },
): Promise<void> {
  const { names, action = 'add' } = change;
  const place = { folderId: await folderId(account, folder), ranges: ALL };
  await account.db.commit(changeFlags, { ...place, names, action, unchangedSince: undefined });
}

const verdicts = async (account: OpenAccount) =>
  (await listSignals(account.db.read)).map(({ verdict }) => verdict);

test('moves to the folder for spam and out of it are signals, and the last one counts', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  await addTestMessages(account, 'INBOX', [{ bytes: messageOf('1') }, { bytes: messageOf('2') }]);
  await move(account, 'INBOX', 'Archive');
  assert.deepEqual(await verdicts(account), []);
  await move(account, 'Archive', 'Junk');
  assert.deepEqual(await verdicts(account), ['spam', 'spam']);
  await move(account, 'Junk', 'INBOX', false);
  assert.deepEqual(await verdicts(account), ['ham', 'ham']);
  await move(account, 'INBOX', 'Junk');
  await move(account, 'Junk', 'Trash');
  assert.deepEqual(await verdicts(account), ['spam', 'spam'], 'spam that is thrown away is still spam');
});

test('keywords are signals, except that mail in the trash is no spam', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  await addTestMessages(account, 'Trash', [{ bytes: messageOf('1') }]);
  await flag(account, 'Trash', { names: ['$NotJunk', '\\Seen'] });
  assert.deepEqual(await verdicts(account), []);
  await flag(account, 'Trash', { names: ['$Junk'] });
  assert.deepEqual(await verdicts(account), ['spam']);
  await addTestMessages(account, 'INBOX', [{ bytes: messageOf('2') }]);
  await flag(account, 'INBOX', { names: ['NonJunk'] });
  assert.deepEqual(await verdicts(account), ['ham', 'spam']);
  await flag(account, 'INBOX', { names: ['NonJunk'], action: 'remove' });
  await flag(account, 'INBOX', { names: ['$Junk', '$NotJunk'] });
  assert.deepEqual(await verdicts(account), ['ham', 'spam']);
});

test('one change counts for a bounded number of messages', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  const messages = Array.from({ length: MAX_SIGNALS_OF_CHANGE + 1 }, () => ({ bytes: messageOf('1') }));
  await addTestMessages(account, 'INBOX', messages);
  await move(account, 'INBOX', 'Junk');
  assert.equal((await verdicts(account)).length, MAX_SIGNALS_OF_CHANGE);
});

test('an account keeps a bounded number of signals, the latest ones', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  await account.db.maintain((connection) =>
    connection.exec(
      `WITH RECURSIVE earlier(number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM earlier LIMIT ${MAX_SIGNALS})
       INSERT INTO spamSignals SELECT 'em_' || number, 'ham', -number FROM earlier`,
    ),
  );
  await addTestMessages(account, 'INBOX', [{ bytes: messageOf('1') }, { bytes: messageOf('2') }]);
  await move(account, 'INBOX', 'Junk');
  const kept = await listSignals(account.db.read);
  assert.equal(kept.length, MAX_SIGNALS);
  assert.deepEqual(
    [kept[1]?.verdict, kept[2]?.verdict, kept.at(-1)?.modseq],
    ['spam', 'ham', 2 - MAX_SIGNALS],
  );
});
