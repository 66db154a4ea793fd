import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mailbox } from '../../../src/mail/address.ts';
import { composeReply } from '../../../src/mail/auto-reply.ts';
import { readMailboxMessage } from '../../../src/mail/mailbox-message/read.ts';
import { readFields } from '../../../src/mail/message/header-block.ts';
import { holds } from '../sieve/fixture.ts';

/** A message with a long Japanese subject, as every Japanese program writes it, and with a body that has two escape sequences in a row. */
const MESSAGE = [
  'From: =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?= =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?= <a@b.example>',
  'Subject: =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?=',
  ' =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?=',
  'Content-Type: text/plain; charset=iso-2022-jp',
  '',
  '\x1b$B%F%9\x1b(B\x1b$B%H\x1b(B',
  '',
].join('\r\n');
const OCTETS = Buffer.from(MESSAGE);

const ME: Mailbox = { name: undefined, address: 'me@b.example', localPart: 'me', domain: 'b.example' };

test('mailboxes search and sort by the subject, the author and the body', async () => {
  const { search, sort, preview } = await readMailboxMessage(OCTETS);
  assert.deepEqual(search.fields?.subject, ['テストテスト']);
  assert.deepEqual(search.fields?.from, ['テストテスト <A@B.EXAMPLE>']);
  assert.match(search.header, /SUBJECT: テストテスト\n/);
  assert.match(search.body, /^テスト\n/);
  assert.deepEqual([sort.baseSubject, sort.displayFrom], ['テストテスト', 'テストテスト']);
  assert.equal(preview, 'テスト');
});

test('scripts compare the subject and the body', () => {
  assert.ok(holds('header :is "subject" "テストテスト"', MESSAGE));
  assert.ok(holds('body :text :contains "テスト"', MESSAGE, { require: ['body'] }));
});

test('the subject of an automatic reply has it', () => {
  const fields = readFields(OCTETS, { start: 0, end: OCTETS.length });
  const { bytes } = composeReply({
    messageId: 'r@b.example',
    from: ME,
    to: ME,
    subject: undefined,
    text: 'away',
    isMime: false,
    fields,
  });
  const [word] = /=\?UTF-8\?B\?[^?]+(?=\?=)/.exec(bytes.toString()) ?? [''];
  assert.equal(Buffer.from(word.slice('=?UTF-8?B?'.length), 'base64').toString(), 'Auto: テストテスト');
});
