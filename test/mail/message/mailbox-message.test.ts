import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import {
  type MailboxMessage,
  makePreview,
  PARSER_VERSION,
  readMailboxMessage,
  readOpaqueMessage,
} from '../../../src/mail/mailbox-message/read.ts';
import { MAX_SEARCH_CHARACTERS } from '../../../src/mail/message/search-text.ts';
import { findSection } from '../../../src/mail/message/section.ts';
import { CORPUS, SECTIONS } from './mime-corpus.ts';

function read(message: string): Promise<MailboxMessage> {
  return readMailboxMessage(Buffer.from(message));
}

const alternative = [
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
  'From: Jörg <j@x.example>',
  'Content-Type: multipart/mixed; boundary=m',
  '',
  '--m',
  'Content-Type: multipart/alternative; boundary=a',
  '',
  '--a',
  'Content-Type: text/plain; charset=utf-8',
  '',
  ' ',
  '--a',
  'Content-Type: text/html; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '<style>p { color: red }</style><p>Caf=E9 <a href=3D"https://hidden.example/">open</a></p>',
  '--a--',
  '--m',
  'Content-Type: text/plain',
  "Content-Disposition: attachment; filename*=utf-8''na%C3%AFve.txt",
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('attached words').toString('base64'),
  '--m',
  'Content-Type: application/octet-stream',
  '',
  'binary words',
  '--m--',
  '',
].join('\r\n');

test('what mailboxes store is plain data, without the octets', async () => {
  const message = await read(alternative);
  assert.deepEqual(structuredClone(message), message);
  assert.equal(message.parserVersion, PARSER_VERSION);
  assert.equal(message.isOpaque, false);
  assert.equal(message.root.parts.length, 3);
  assert.equal(message.sort.baseSubject, 'GRU\u0308ßE');
});

test('wire text in UTF-8 is stored where it differs', async () => {
  const { envelope, body } = await read(alternative);
  assert.match(envelope.utf8 ?? '', /"Jörg"/);
  assert.match(envelope.ascii, /"=\?UTF-8\?B\?SsO2cmc=\?="/);
  assert.equal(body.utf8, null);
  assert.match(body.ascii, /^\(\(\("text" "plain"/);
});

test('search text is decoded and folded, with part headers and without markup', async () => {
  const { search } = await read(alternative);
  for (const line of ['SUBJECT: GRU\u0308ßE\n', 'FROM: JO\u0308RG <J@X.EXAMPLE>\n'])
    assert.ok(search.header.includes(line));
  for (const words of ['CAFE\u0301 OPEN', 'ATTACHED WORDS', 'NAI\u0308VE.TXT', 'CONTENT-TYPE: TEXT/HTML'])
    assert.ok(search.body.includes(words), words);
  for (const words of ['HIDDEN.EXAMPLE', 'COLOR', 'BINARY WORDS', '<P>', 'SUBJECT'])
    assert.ok(!search.body.includes(words), words);
  assert.equal(search.isComplete, true);
});

test('the headers and texts of messages inside are searched', async () => {
  const { search } = await read(SECTIONS);
  for (const words of ['SUBJECT: THIRD', 'INNER TEXT', 'RICH', 'A MESSAGE'])
    assert.ok(search.body.includes(words), words);
  assert.ok(!search.body.includes('PREAMBLE'));
});

test('long text is cut, and marked', async () => {
  const words = 'word '.repeat(MAX_SEARCH_CHARACTERS / 5 + 10);
  const { search } = await read(`Subject: x\r\n\r\n${words}`);
  assert.equal(search.isComplete, false);
  assert.equal(search.body.length, MAX_SEARCH_CHARACTERS);
  const exact = await read(`\r\n${'x'.repeat(MAX_SEARCH_CHARACTERS)}`);
  assert.equal(exact.search.isComplete, true);
  const header = await read(`Subject: ${'x'.repeat(200_000)}\r\n`.repeat(6));
  assert.equal(header.search.isComplete, false);
  const parts = `--b\r\n\r\n${'x'.repeat(600_000)}\r\n`;
  const later = await read(
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.repeat(2)}--b\r\n\r\nlast\r\n--b--`,
  );
  assert.equal(later.search.isComplete, false);
  const padded = await read(
    `Content-Transfer-Encoding: base64\r\n\r\n${'='.repeat(4 * MAX_SEARCH_CHARACTERS + 1)}`,
  );
  assert.deepEqual([padded.search.body, padded.search.isComplete], ['', false]);
  // Folding makes mathematical letters shorter, so the limit is reached before.
  const shrinking = `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${'𝐀'.repeat(600_000)}\r\n`;
  const cut = await read(
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${shrinking}--b\r\n\r\nlast\r\n--b--`,
  );
  assert.ok(!cut.search.body.includes('LAST'));
  assert.equal(cut.search.isComplete, false);
});

test('the preview is the first 200 characters of visible text (RFC 8970)', async () => {
  assert.equal((await read(alternative)).preview, 'Café open');
  assert.equal(makePreview(' a\r\n\t b\0c\u00a0d '), 'a b c d');
  assert.equal(makePreview('😀'.repeat(300)), '😀'.repeat(200));
  assert.equal(makePreview('é'.repeat(300)), 'é'.repeat(200));
  assert.equal(makePreview('word '.repeat(1_000)), 'word '.repeat(40).trimEnd());
  assert.equal(makePreview(`${' '.repeat(2_000)}far`), 'far');
  assert.equal((await read('Content-Type: image/png\r\n\r\nPNG')).preview, '');
  const attached = 'Content-Disposition: attachment\r\n\r\nfile';
  assert.equal((await read(attached)).preview, '');
});

test('a message with too many parts is one opaque part, whose header is read', async () => {
  const deep = 'Content-Type: message/rfc822\r\n\r\n'.repeat(200);
  const message = await read(`Subject: deep\r\nFrom: a@b\r\n${deep}`);
  assert.equal(message.isOpaque, true);
  assert.match(message.envelope.ascii, /^\(NIL "deep" \(\(NIL NIL "a" "b"\)\)/);
  assert.match(
    message.bodyStructure.ascii,
    /^\("application" "octet-stream" NIL NIL NIL "8bit" \d+ NIL NIL NIL NIL\)$/,
  );
  assert.deepEqual(findSection(message.root, { part: [1], text: undefined, fields: [] }), {
    start: message.root.body,
    end: message.root.end,
  });
  assert.equal(message.search.header.includes('SUBJECT: DEEP'), true);
  assert.equal(message.search.isComplete, false);
  assert.equal((await readOpaqueMessage(Buffer.alloc(0))).isOpaque, true);
});

/** Messages that mailparser reads in another way: only delimiters of the innermost multipart end a part there. */
const READ_DIFFERENTLY = ['an inner multipart without end'];

test('texts and files are those that mailparser finds', async () => {
  for (const [name, message] of Object.entries({ ...CORPUS, alternative })) {
    if (READ_DIFFERENTLY.includes(name)) continue;
    const { text = '', attachments } = await simpleParser(message, {
      skipHtmlToText: true,
      keepCidLinks: true,
    });
    const { search } = await read(message);
    for (const line of text.split('\n').filter((words) => /^[\x20-\x7e]+$/.test(words)))
      assert.ok(search.body.includes(line.toUpperCase()), `${name}: ${line}`);
    for (const { filename, content, contentType } of attachments)
      if (contentType === 'text/plain') {
        assert.ok(search.body.includes(content.toString().toUpperCase()), name);
        assert.ok(search.body.includes((filename ?? '').normalize('NFKD').toUpperCase()), name);
      }
  }
});

test('any octets are read', async () => {
  const pieces = fc.oneof(
    fc.constantFrom(
      'Content-Type: multipart/mixed; boundary=a\r\n',
      '\r\n',
      '--a\r\n',
      '--a--\r\n',
      'Content-Type: text/html\r\n',
    ),
    fc.constantFrom(
      'From: <"',
      'Subject: =?',
      'Date: 1 Jan',
      'Content-Transfer-Encoding: base64\r\n',
      '<p',
      'é',
    ),
    fc.uint8Array({ maxLength: 20 }).map((octets) => Buffer.from(octets).toString('latin1')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 25 }), async (parts) => {
      const octets = Buffer.from(parts.join(''), 'latin1');
      const message = await readMailboxMessage(octets);
      assert.equal(message.root.end, octets.length);
      assert.doesNotMatch(message.envelope.ascii + message.bodyStructure.ascii, /[\r\n\0\u0080-\uffff]/);
      assert.ok((message.search.header + message.search.body + message.preview).isWellFormed());
    }),
  );
});

test('the work is linear in the octets', async () => {
  const opening = 'Content-Type: multipart/mixed; boundary=boundary\r\n\r\n';
  for (const hostile of [
    opening + '--boundary\r\n'.repeat(80_000),
    opening + '--boundar\r\n'.repeat(90_000),
    Array.from({ length: 10_000 }, (_, part) =>
      `${opening}--boundary\r\n`.replaceAll('boundary', `b${part}`),
    ).join(''),
    'X: y\r\n'.repeat(100_000),
    `To: <${'a:'.repeat(100_000)}`,
    `Subject: ${'[a]'.repeat(60_000)}`,
    `Content-Type: a/b${';a=b ('.repeat(20_000)}${')'.repeat(20_000)} c`,
  ]) {
    const start = process.threadCpuUsage();
    await read(`${hostile}\r\n\r\n`);
    const { user, system } = process.threadCpuUsage(start);
    // Each takes a tenth of it; work that is quadratic takes minutes.
    assert.ok(user + system < 2_000_000, hostile.slice(0, 60));
  }
});

test('a message whose structure is longer than half a megabyte is opaque', async () => {
  const opening = 'Subject: parts\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n';
  const description = `--b\r\nContent-Description: ${'d'.repeat(900)}\r\n\r\n`;
  const short = await read(`${opening}${description.repeat(500)}--b--\r\n`);
  assert.equal(short.isOpaque, false);
  assert.ok(short.bodyStructure.ascii.length > 400_000);
  const long = await read(`${opening}${description.repeat(600)}--b--\r\n`);
  assert.equal(long.isOpaque, true);
  assert.ok(long.bodyStructure.ascii.length < 1_000);
  assert.match(long.envelope.ascii, /"parts"/);
});
