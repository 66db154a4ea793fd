/** The senders of the mail in the folder for spam. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listJunkSenders, MAX_JUNK_MESSAGES } from '../../src/accounts/junk-senders.ts';
import { addTestMessages, openTestAccount, START_MS } from '../support/test-account.ts';

const mailFrom = (from: string, more = '') =>
  Buffer.from(`${more}From: ${from}\r\nSubject: Offer\r\n\r\nText\r\n`);
const at = (ms: number) => ({ internalDate: { atMs: START_MS + ms, zoneMinutes: 0 } });

test('senders are grouped by their address, the latest first, with names decoded', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  await addTestMessages(account, 'INBOX', [mailFrom('friend@good.example')]);
  await addTestMessages(account, 'Junk', [
    { bytes: mailFrom('One <One@Spam.example>'), ...at(1) },
    { bytes: mailFrom('=?utf-8?q?J=C3=BCrgen?= <two@spam.example>, three@spam.example'), ...at(2) },
    { bytes: mailFrom('one@spam.example'), ...at(3) },
  ]);
  assert.deepEqual(await listJunkSenders(account), {
    folder: 'Junk',
    senders: [
      { address: 'one@spam.example', name: '', messages: 2, lastAt: START_MS + 3 },
      { address: 'two@spam.example', name: 'Jürgen', messages: 1, lastAt: START_MS + 2 },
    ],
  });
});

test('mail whose sender no rule could name is left out', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  const wrong = [
    '',
    'nobody',
    '<>',
    'a@b@c',
    '"a b"',
    'x@[192.0.2.1]',
    `${'x'.repeat(300)}@spam.example`,
    'group:;',
  ];
  await addTestMessages(account, 'Junk', [
    ...wrong.map((from) => mailFrom(from)),
    Buffer.from('Subject: no sender\r\n\r\n'),
    // The sender stands behind the part of the header that is read.
    mailFrom('late@spam.example', `X-Long: ${'x'.repeat(900)}\r\n`.repeat(40)),
  ]);
  assert.deepEqual((await listJunkSenders(account)).senders, []);
});

test('only the newest messages are read', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  await addTestMessages(account, 'Junk', [mailFrom('oldest@spam.example')]);
  await addTestMessages(
    account,
    'Junk',
    Array.from({ length: MAX_JUNK_MESSAGES }, () => mailFrom('new@spam.example')),
  );
  const { senders } = await listJunkSenders(account);
  assert.deepEqual(
    senders.map(({ address, messages }) => [address, messages]),
    [['new@spam.example', MAX_JUNK_MESSAGES]],
  );
});
