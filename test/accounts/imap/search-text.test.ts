import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTexts } from '../../../src/accounts/imap/search-text.ts';
import { addTestMessages, messageOf, openTestAccount } from '../../support/test-account.ts';

test('TEXT finds messages by their text and by the header fields of their recipient, and BODY by the body alone', async () => {
  const account = await openTestAccount();
  const prefix = Buffer.from('Delivered-To: =?utf-8?q?J=C3=B6rg?= <j@test.example>\r\n');
  const bytes = messageOf('hello');
  await addTestMessages(account, 'INBOX', [{ bytes, prefix }, bytes]);
  const rows = await account.db.read.selectFrom('messages').selectAll().orderBy('uid').execute();
  const answers = async (kind: 'text' | 'body', text: string) => {
    const key = { kind, text };
    const matches = await findTexts(
      account,
      [key],
      rows.map(({ contentId }) => contentId),
    );
    return rows.map((row) => matches(row).has(key));
  };
  assert.deepEqual(await answers('text', 'HELLO'), [true, true]);
  assert.deepEqual(await answers('body', 'hello'), [false, false]);
  assert.deepEqual(await answers('text', 'to: jörg'), [true, false]);
  assert.deepEqual(await answers('body', 'to: jörg'), [false, false]);
  assert.deepEqual(await answers('body', 'xxxx'), [true, true]);
  assert.deepEqual(await answers('text', ''), [true, true]);
  await account.close();
});
