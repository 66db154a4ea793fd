import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readMimeTree } from '../../../src/mail/message/mime-tree.ts';
import {
  chooseFields,
  FieldChooser,
  findBinary,
  findSection,
  partialRange,
  type Section,
  type StoredPart,
} from '../../../src/mail/message/section.ts';
import { decodeTransfer } from '../../../src/mail/message/transfer-encoding.ts';
import { CORPUS, SECTIONS } from './mime-corpus.ts';

const octets = Buffer.from(SECTIONS);
const root: StoredPart = readMimeTree(octets);

/** Returns the text of a section such as `3.HEADER` or `4.1.MIME`. */
function fetch(name: string, message = SECTIONS): string | undefined {
  const words = name.split('.').filter((word) => word !== '');
  const part = words.filter((word) => /^\d+$/.test(word)).map(Number);
  const text = words.slice(part.length).join('.');
  const tree = message === SECTIONS ? root : readMimeTree(Buffer.from(message));
  const range = findSection(tree, { part, text: (text || undefined) as Section['text'], fields: [] });
  return range && message.slice(range.start, range.end);
}

test('the sections of the example in RFC 9051 section 6.4.5.1 are those that it names', () => {
  assert.equal(fetch(''), SECTIONS);
  assert.match(fetch('HEADER') ?? '', /^From: a@b\.example\r\n[\s\S]*boundary=outer\r\n\r\n$/);
  assert.match(fetch('TEXT') ?? '', /^preamble\r\n[\s\S]*epilogue\r\n$/);
  assert.equal((fetch('HEADER') ?? '') + fetch('TEXT'), SECTIONS);
  assert.equal(fetch('1'), 'first text');
  assert.equal(fetch('2'), 'aGVsbG8AIQ==');
  assert.match(fetch('3') ?? '', /^Subject: third\r\n[\s\S]*--third--$/);
  assert.equal(fetch('3.HEADER'), 'Subject: third\r\nContent-Type: multipart/mixed; boundary=third\r\n\r\n');
  assert.match(fetch('3.TEXT') ?? '', /^--third\r\n[\s\S]*--third--$/);
  assert.equal(fetch('3.1'), 'third text');
  assert.equal(fetch('3.2'), 'octets');
  assert.match(fetch('4') ?? '', /^--fourth\r\n[\s\S]*--fourth--$/);
  assert.equal(fetch('4.1'), 'GIF');
  assert.equal(fetch('4.1.MIME'), 'Content-Type: image/gif\r\nContent-ID: <gif@b.example>\r\n\r\n');
  assert.match(fetch('4.2.HEADER') ?? '', /^Subject: fourth\r\n/);
  assert.match(fetch('4.2.TEXT') ?? '', /^--inner\r\n[\s\S]*--inner--$/);
  assert.equal(fetch('4.2.1'), 'inner text');
  assert.equal(fetch('4.2.2.1'), 'plain');
  assert.equal(fetch('4.2.2.2'), 'rich');
});

test('MIME of a message in a message is the header of the part, not of the message inside', () => {
  assert.equal(fetch('4.2.MIME'), 'Content-Type: message/rfc822\r\nContent-Description: a message\r\n\r\n');
  assert.equal(fetch('1.MIME'), '\r\n');
});

test('a message that is not a multipart has part 1 alone', () => {
  const plain = CORPUS['plain'] ?? '';
  assert.equal(fetch('1', plain), 'body\r\n');
  assert.equal(fetch('1.MIME', plain), 'Subject: x\r\n\r\n');
  for (const name of ['2', '1.1', '1.HEADER', '1.TEXT', 'MIME'])
    assert.equal(fetch(name, plain), undefined, name);
  const nested = CORPUS['a message in a message in a message'] ?? '';
  assert.equal(fetch('1.1.1', nested), 'text\r\n');
  assert.equal(fetch('1.1.HEADER', nested), 'Subject: inner\r\n\r\n');
  assert.equal(fetch('1.1.TEXT', nested), 'text\r\n');
  assert.equal(fetch('1.1.1.1', nested), undefined);
});

test('sections that a message does not have are missing', () => {
  for (const name of [
    '5',
    '0',
    '1.1',
    '1.HEADER',
    '2.TEXT',
    '4.HEADER',
    '4.TEXT',
    '3.3',
    '4.1.1',
    '4.2.2.3',
    '9.9.9',
  ])
    assert.equal(fetch(name), undefined, name);
});

test('header fields are chosen in any case, with their continuations and the empty line', () => {
  const header = Buffer.from('A: 1\r\nSubject: x\r\n y\r\nSUBJECT: z\r\njunk\r\n\r\n');
  const choose = (text: Section['text'], ...fields: string[]): string =>
    chooseFields(header, { text, fields }).toString();
  assert.equal(choose('HEADER.FIELDS', 'subject', 'Other'), 'Subject: x\r\n y\r\nSUBJECT: z\r\n\r\n');
  assert.equal(choose('HEADER.FIELDS.NOT', 'sUBJECT'), 'A: 1\r\njunk\r\n\r\n');
  assert.equal(choose('HEADER.FIELDS', 'x'), '\r\n');
  assert.equal(choose('HEADER', 'a'), header.toString());
  assert.equal(
    chooseFields(Buffer.from('A: 1\r\n'), { text: 'HEADER.FIELDS', fields: ['b'] }).toString(),
    '',
  );
});

test('a partial range is cut at the end, and is empty behind it', () => {
  const range = { start: 10, end: 20 };
  assert.deepEqual(partialRange(range, undefined), range);
  assert.deepEqual(partialRange(range, { offset: 2, count: 3 }), { start: 12, end: 15 });
  assert.deepEqual(partialRange(range, { offset: 8, count: 100 }), { start: 18, end: 20 });
  assert.deepEqual(partialRange(range, { offset: 11, count: 1 }), { start: 20, end: 20 });
  assert.deepEqual(partialRange(range, { offset: 2 ** 32, count: 2 ** 32 }), { start: 20, end: 20 });
});

test('BINARY decodes a part, and leaves what has parts inside as it is', () => {
  const decode = (part: number[]): string | undefined => {
    const found = findBinary(root, part);
    return (
      found && decodeTransfer(octets.subarray(found.range.start, found.range.end), found.encoding)?.toString()
    );
  };
  assert.equal(decode([2]), 'hello\0!');
  assert.equal(decode([1]), 'first text');
  assert.equal(decode([3]), fetch('3'));
  assert.equal(decode([]), SECTIONS);
  assert.equal(decode([7]), undefined);
  const unknown = Buffer.from('Content-Transfer-Encoding: x-uuencode\r\n\r\nx');
  const found = findBinary(readMimeTree(unknown), [1]);
  assert.equal(found?.encoding, 'x-uuencode');
  assert.equal(decodeTransfer(unknown, 'x-uuencode'), undefined);
});

test('chosen and other fields together are the lines of the header', () => {
  const names = ['A', 'B', 'Ab'];
  const lines = fc.array(fc.constantFrom('A: 1\r\n', 'b: 2\n', ' more\r\n', 'junk\r\n', 'AB:3\r\n'));
  fc.assert(
    fc.property(lines, fc.subarray(names), (header, fields) => {
      const text = Buffer.from(header.join(''));
      const parts = (['HEADER.FIELDS', 'HEADER.FIELDS.NOT'] as const).map((kind) =>
        chooseFields(text, { text: kind, fields }).toString(),
      );
      const chooser = new FieldChooser();
      for (const kind of ['HEADER.FIELDS', 'HEADER', 'HEADER.FIELDS.NOT', 'HEADER.FIELDS'] as const)
        assert.deepEqual(
          chooser.choose(text, 0, { text: kind, fields }),
          chooseFields(text, { text: kind, fields }),
        );
      const sorted = (value: string): string => value.split('\n').sort().join('\n');
      assert.equal(sorted(parts.join('')), sorted(text.toString()));
    }),
  );
});

test('hundreds of sections that choose fields look for the lines of a header twice', (t) => {
  const header = Buffer.from(Array.from({ length: 200 }, (_, index) => `X-${index}: value\r\n`).join(''));
  // The name of each line is read once when lines are found.
  const read = t.mock.method(header, 'toString');
  const chooser = new FieldChooser();
  for (let index = 0; index < 200; index++) {
    const section = { text: 'HEADER.FIELDS', fields: [`x-${index}`] } as const;
    assert.equal(chooser.choose(header, 7, section).length, `X-${index}: value\r\n`.length);
  }
  assert.equal(read.mock.callCount(), 2 * 200);
});
