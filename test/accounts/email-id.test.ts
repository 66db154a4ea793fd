import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { contentIdOf, emailIdOf } from '../../src/accounts/email-id.ts';
import { findByEmailId } from '../../src/accounts/message-scan-store.ts';
import { addTestMessages, messageOf, openTestAccount } from '../support/test-account.ts';

const account = await openTestAccount();
after(() => account.close());

async function emailIdAt(uid: number): Promise<string> {
  const sql = 'SELECT emailId FROM messages WHERE uid = ?';
  return await account.db.maintain((connection) => connection.prepare(sql).pluck().get(uid) as string);
}

test('an EMAILID names its content, and other texts name none', () => {
  for (const id of [1, 35, 36, 1_000_000, Number.MAX_SAFE_INTEGER])
    assert.equal(contentIdOf(emailIdOf(id)), id);
  assert.match(emailIdOf(1), /^[A-Za-z0-9_-]{1,255}$/);
  for (const text of [
    '',
    'C',
    'C1',
    'M0123456789abcdef',
    'C1-0123456789abcde',
    'C1-0123456789abcdeF',
    'Czzzzzzzzzzz-0123456789abcdef',
  ])
    assert.equal(contentIdOf(text), undefined, text);
});

test('a message is found by its EMAILID, whether it names the content or was chosen before', async () => {
  const [first = 0, chosen = 0] = await addTestMessages(account, 'INBOX', [
    messageOf('first'),
    { bytes: messageOf('chosen'), emailId: 'M0123456789abcdef' },
  ]);
  const tx = account.db.read;
  const id = await emailIdAt(first);
  assert.ok(contentIdOf(id) !== undefined);
  assert.equal((await findByEmailId(tx, id))?.uid, first);
  assert.equal((await findByEmailId(tx, 'M0123456789abcdef'))?.uid, chosen);
  // The number alone finds nothing: ids of other contents cannot be guessed.
  assert.equal(
    await findByEmailId(
      tx,
      id.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    ),
    undefined,
  );
  assert.equal(await findByEmailId(tx, 'M0123456789abcdeg'), undefined);
});

test('each form of an EMAILID is looked up by an index', async () => {
  const plan = (sql: string) =>
    account.db.maintain((connection) =>
      connection
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN SELECT uid FROM messages WHERE ${sql}`)
        .all()
        .map(({ detail }) => detail),
    );
  assert.match((await plan("emailId = 'M1' AND emailId NOT GLOB 'C*'")).join(), /INDEX messagesByEmailId/);
  assert.match((await plan("emailId = 'C1' AND contentId = 1")).join(), /INDEX messagesByContent/);
});
