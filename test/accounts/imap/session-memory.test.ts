/** The memory of untold changes and of search results has one limit for all sessions of an account. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openImapAccount } from '../../../src/accounts/imap/imap-account.ts';
import { SESSION_MEMORY, SessionMemory } from '../../../src/accounts/imap/session-memory.ts';
import { createByteBudget } from '../../../src/system/guards/byte-budget.ts';
import { completes, message, ok, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { createAccountApp } from '../../support/test-account.ts';

const mail = await createAccountMail();
const open = openerOf(mail);
const { sessionMemory: budget } = mail.account.app;

/** Leaves this number of bytes to the sessions of the account, until the returned function is called. */
function leave(bytes: number): () => void {
  const others = budget.open(mail.account.id);
  others.add((SESSION_MEMORY.largeBytes + SESSION_MEMORY.smallBytes) * SESSION_MEMORY.share - bytes);
  return () => others.release();
}

test('the sessions of one account leave room for those of others', () => {
  const app = createAccountApp({
    sessionMemory: createByteBudget({ largeBytes: 8, smallBytes: 0, share: 1 / 2 }),
  });
  const [one, same, other] = ['a', 'a', 'b'].map((id) => new SessionMemory({ app, id }));
  assert.ok(one && same && other);
  assert.deepEqual(
    [one.resize(3), same.resize(2), same.resize(1), one.resize(4)],
    [true, false, true, false],
  );
  assert.deepEqual([other.resize(4), one.resize(2), same.resize(2)], [true, true, true]);
  one.resize(0);
  assert.equal(same.resize(4), true);
});

/** Opens a session that wants to know which names are subscribed, and returns what it is told. */
async function openWatcher() {
  const session = openImapAccount(mail.account, { disabledCapabilities: [], quotaBytes: null });
  const selected = { messages: true, flags: true, items: [] };
  const groups = [{ filter: { kind: 'personal' }, events: ['SubscriptionChange'] }] as const;
  await session.notify({ status: false, selected, groups }).next();
  const told = async (): Promise<string> => {
    let text = '';
    for await (const chunk of session.accountChanges()) text += chunk;
    return text;
  };
  return { session, told };
}

test('a session whose account has no room for its news loses them, and is told so', async () => {
  const [first, second] = [await openWatcher(), await openWatcher()];
  const release = leave(3 * 2_048);
  for (const name of ['one', 'two']) mail.account.changes.subscriptions.publish({ name });
  release();
  assert.match(await first.told(), /^\* LIST [^\r]* one\r\n\* LIST [^\r]* two\r\n$/);
  assert.match(await second.told(), /^\* OK \[NOTIFICATIONOVERFLOW\]/);
  mail.account.changes.subscriptions.publish({ name: 'three' });
  for (const { session } of [first, second]) session.close();
  assert.equal(budget.usedBytes, 0);
});

test('a search is not updated, and its result not saved, when the account has no room', async (t) => {
  const { ask } = await open(t, ['1', '2', '3']);
  await ok(ask, 'SEARCH RETURN (SAVE) 1');
  const release = leave(2 * 8);
  t.after(release);
  await completes(ask, 'SEARCH RETURN (SAVE) ALL', /^NO \[NOTSAVED\]/);
  assert.deepEqual(await ok(ask, 'FETCH $ UID'), []);
  assert.match((await ok(ask, 'SEARCH RETURN (UPDATE) ALL')).at(-1) ?? '', /^\* NO \[NOUPDATE /);
  await ok(ask, 'SEARCH RETURN (SAVE) 1:2');
  assert.deepEqual(await ok(ask, 'FETCH $ UID'), ['* 1 FETCH (UID 1)', '* 2 FETCH (UID 2)']);
  await ok(ask, 'SEARCH RETURN (SAVE) 3');
  assert.match((await ok(ask, 'SEARCH RETURN (UPDATE COUNT) 2')).join(), / COUNT 1$/);
});

test('a search whose updates outgrow the room of the account is updated no more', async (t) => {
  const { ask, deliver } = await open(t, ['1']);
  const release = leave(8);
  t.after(release);
  await ok(ask, 'SEARCH RETURN (UPDATE) ALL');
  await deliver(message('2'));
  assert.match((await ok(ask, 'NOOP')).at(-1) ?? '', /^\* NO \[NOUPDATE /);
  await ok(ask, 'UNSELECT');
  release();
  assert.equal(budget.usedBytes, 0);
});
