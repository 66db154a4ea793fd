/** Searches of an account whose results are updated, beside what all kinds of sessions have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message, ok, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { START_MS } from '../../support/test-account.ts';

const mail = await createAccountMail();
const clock = mail.account.app.clock as FakeClock;
const open = openerOf(mail);

test('results that depend on the time are updated every minute', async (t) => {
  const { ask, deliver } = await open(t, []);
  await deliver(message('1'), { atMs: START_MS });
  await deliver(message('2'), { atMs: START_MS - 100_000 });
  await ok(ask, 'NOOP');
  assert.match((await ok(ask, 'UID SEARCH RETURN (UPDATE ALL) OR YOUNGER 30 ANSWERED')).join(), /ALL 1$/);
  await clock.advance(59_999);
  assert.deepEqual(await ok(ask, 'NOOP'), []);
  await clock.advance(1);
  assert.match((await ok(ask, 'NOOP')).join(), /UID REMOVEFROM \(0 1\)$/);
});

test('a search that fails is updated no more, and the commands of the client go on', async (t) => {
  const { ask, deliver } = await open(t, ['1']);
  await ok(ask, 'SEARCH RETURN (UPDATE) UNSEEN');
  await ok(ask, 'SEARCH RETURN (UPDATE) TEXT "body of"');
  const { find } = mail.account.search;
  mail.account.search.find = async () => {
    throw new Error('no texts');
  };
  t.after(() => {
    mail.account.search.find = find;
  });
  await deliver(message('2'));
  const lines = await ok(ask, 'NOOP');
  assert.match(lines.at(-2) ?? '', /^\* ESEARCH \(TAG "t\d+"\) ADDTO \(0 2\)$/);
  assert.match(lines.at(-1) ?? '', /^\* NO \[NOUPDATE "t\d+"\] /);
  await deliver(message('3'));
  assert.match((await ok(ask, 'NOOP')).at(-1) ?? '', /ADDTO \(0 3\)$/);
});
