import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  MAX_REPLY_BYTES,
  MAX_REPLY_LINE_BYTES,
  ReplyFormatError,
  ReplyReader,
  replyText,
  type SmtpReply,
} from '../../../src/mail/smtp/reply.ts';

/** Expected number of replies: more than any of these tests reads. */
const MANY = 10_000;

function readerOf(expectedReplies: number): ReplyReader {
  const reader = new ReplyReader();
  reader.expect(expectedReplies);
  return reader;
}

function read(...chunks: (string | Buffer)[]): SmtpReply[] {
  const reader = readerOf(MANY);
  const replies: SmtpReply[] = [];
  for (const chunk of chunks) {
    reader.push(Buffer.from(chunk as string));
    for (let reply = reader.next(); reply; reply = reader.next()) replies.push(reply);
  }
  return replies;
}

test('single and multi-line replies are read, with their enhanced codes', () => {
  assert.deepEqual(read('250 2.1.5 Ok\r\n'), [{ code: 250, enhanced: '2.1.5', lines: ['2.1.5 Ok'] }]);
  assert.deepEqual(read('250-mx.example\r\n250-SIZE 100\r\n250 HELP\r\n'), [
    { code: 250, enhanced: undefined, lines: ['mx.example', 'SIZE 100', 'HELP'] },
  ]);
  assert.deepEqual(read('354\r\n220 \r\n'), [
    { code: 354, enhanced: undefined, lines: [''] },
    { code: 220, enhanced: undefined, lines: [''] },
  ]);
  assert.deepEqual(read('250 ok\n'), [{ code: 250, enhanced: undefined, lines: ['ok'] }]);
});

test('an enhanced code counts only where its class agrees and it stands alone', () => {
  const enhancedOf = (line: string) => read(`${line}\r\n`)[0]?.enhanced;
  assert.equal(enhancedOf('550 5.7.26 no'), '5.7.26');
  assert.equal(enhancedOf('550 5.7.511'), '5.7.511');
  assert.equal(enhancedOf('550 4.7.1 no'), undefined);
  assert.equal(enhancedOf('550 5.7.1: no'), undefined);
  assert.equal(enhancedOf('550 5.7.1234 no'), undefined);
  assert.equal(enhancedOf('250 5.1.1 is our version'), undefined);
});

test('replies are the same however the bytes are cut', () => {
  const text = '250-first é\r\n250 2.0.0 second\r\n550-5.1.1 a\r\n550-5.1.1 b\r\n550 5.1.1 c\r\n354 go\r\n';
  const whole = read(text);
  assert.equal(whole.length, 3);
  const bytes = Buffer.from(text);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      assert.deepEqual(read(...chunks), whole);
    }),
  );
});

test('bytes that are not a reply throw ReplyFormatError, and nothing else is ever thrown', () => {
  for (const line of [
    '',
    'hello',
    '25 ok',
    '2500 ok',
    '150 ok',
    '650 ok',
    '250_ok',
    ' 250 ok',
    'HTTP/1.1 400 Bad',
    '\0\0\0',
  ]) {
    assert.throws(() => read(`${line}\r\n`), ReplyFormatError, line);
  }
  assert.throws(() => read('250-a\r\n251 b\r\n'), ReplyFormatError);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        read(Buffer.from(bytes));
      } catch (error) {
        assert.ok(error instanceof ReplyFormatError);
      }
    }),
  );
});

test('a peer cannot make us keep more than the limits', () => {
  assert.throws(() => read('x'.repeat(MAX_REPLY_LINE_BYTES + 1)), ReplyFormatError);
  assert.throws(() => read(`250 ${'x'.repeat(MAX_REPLY_LINE_BYTES)}\r\n`), ReplyFormatError);
  const long = Buffer.from(`250 ${'x'.repeat(2_000)}\r\n`.repeat(10));
  const reader = readerOf(MANY);
  assert.throws(() => {
    for (let round = 0; round < 100; round++) reader.push(long);
  }, /the unread replies are longer than 262144 bytes/);
});

test('one unexpected reply is kept, and a second one is refused, however short it is', () => {
  for (const expected of [0, 1, 105]) {
    const reader = readerOf(expected);
    for (let count = 0; count <= expected; count++) reader.push(Buffer.from('250\n'));
    assert.throws(() => reader.push(Buffer.from('250\n')), /replies that it was not asked for/);
    let kept = 0;
    while (reader.next()) kept += 1;
    assert.equal(kept, expected + 1);
  }
});

test('a reply that was read is no longer expected', () => {
  const reader = readerOf(2);
  reader.push(Buffer.from('250\n250\n'));
  assert.ok(reader.next() && reader.next());
  reader.push(Buffer.from('421 4.4.2 idle\n'));
  assert.throws(() => reader.push(Buffer.from('250\n')), ReplyFormatError);
});

test('the beginning of a long reply is kept, and the rest is skipped', () => {
  const line = `550-5.1.1 ${'x'.repeat(900)}\r\n`;
  const [reply] = read(...Array<string>(250).fill(line), '550 5.1.1 end\r\n');
  assert.equal(reply?.code, 550);
  assert.equal(reply?.enhanced, '5.1.1');
  assert.equal(reply?.lines.length, 2);
  assert.ok(replyText(reply).length <= 1_010);
  const [wide] = read(`550 ${'é'.repeat(1_500)}\r\n`);
  assert.equal(wide?.lines[0], 'é'.repeat(500), 'no character is cut in two');
  const empty = read(...Array<string>(30_000).fill('550-\r\n'), '550 \r\n');
  assert.ok((empty[0]?.lines.length ?? 0) <= 251);
});

test('the answer to EHLO keeps every extension of a server that names many', () => {
  const names = Array.from({ length: 60 }, (_, index) => `X-EXTENSION-${index} with some parameters`);
  const [reply] = read('250-mx.example\r\n', ...names.map((name) => `250-${name}\r\n`), '250 STARTTLS\r\n');
  assert.deepEqual(reply?.lines, ['mx.example', ...names, 'STARTTLS']);
});

test('long replies to many recipients are read one after the other', () => {
  const line = `450-${'x'.repeat(1000)}\r\n`;
  const verbose = `${line.repeat(239)}450 end\r\n`;
  assert.equal(read(...Array<string>(10).fill(verbose)).length, 10);
});

test('a reply without end is refused', () => {
  const line = `250-${'x'.repeat(1000)}\r\n`;
  const endless = Array<string>(Math.ceil(MAX_REPLY_BYTES / 1000)).fill(line);
  assert.throws(() => read(...endless), /a reply is longer than 262144 bytes/);
});

test('replies that are read make room for others', () => {
  const reply = `250 ${'x'.repeat(1000)}\r\n`;
  assert.equal(read(...Array<string>(1000).fill(reply)).length, 1000);
});

test('characters that hide or reorder text reach neither logs nor records', () => {
  assert.deepEqual(read('550 a\x1b[31m\0\u0085b\u2028c\rd\u202ee\u200bf\r\n')[0]?.lines, ['a[31m b c def']);
  assert.throws(() => read('\x1b[2J\u202ehello\r\n'), /not an SMTP reply: "\[2Jhello"/);
});

test('the text for people has the code once and the enhanced code once', () => {
  const [reply] = read('550-5.1.1 The account\r\n550-5.1.1 does not exist.\r\n550 5.1.1\r\n');
  assert.ok(reply);
  assert.equal(replyText(reply), '550 5.1.1 The account does not exist.');
  assert.equal(replyText({ code: 354, enhanced: undefined, lines: [''] }), '354');
});
