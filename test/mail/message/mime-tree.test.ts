import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  MAX_DEPTH,
  MAX_PARTS,
  type MimeEntity,
  readMimeTree,
  readOpaque,
  TooComplexError,
} from '../../../src/mail/message/mime-tree.ts';
import { CORPUS, SECTIONS } from './mime-corpus.ts';

function read(text: string): MimeEntity {
  return readMimeTree(Buffer.from(text, 'latin1'));
}

/** Returns the types of a tree, with the text of its leaves. */
function outline(text: string): unknown {
  const show = (entity: MimeEntity): unknown => {
    const type = `${entity.type}/${entity.subtype}`;
    if (entity.message) return [type, show(entity.message)];
    return entity.parts.length > 0
      ? [type, ...entity.parts.map(show)]
      : [type, text.slice(entity.body, entity.end)];
  };
  return show(read(text));
}

test('parts are found in parts and in messages', () => {
  assert.deepEqual(outline(SECTIONS), [
    'multipart/mixed',
    ['text/plain', 'first text'],
    ['application/octet-stream', 'aGVsbG8AIQ=='],
    [
      'message/rfc822',
      ['multipart/mixed', ['text/plain', 'third text'], ['application/octet-stream', 'octets']],
    ],
    [
      'multipart/mixed',
      ['image/gif', 'GIF'],
      [
        'message/rfc822',
        [
          'multipart/mixed',
          ['text/plain', 'inner text'],
          ['multipart/alternative', ['text/plain', 'plain'], ['text/richtext', 'rich']],
        ],
      ],
    ],
  ]);
});

test('delimiters are exact lines, and the outermost one ends all parts inside', () => {
  assert.deepEqual(outline(CORPUS['a boundary that begins like another one'] ?? ''), [
    'multipart/mixed',
    ['multipart/mixed', ['text/plain', 'one']],
    ['text/plain', 'two --b\r\n--bx\r\nx--b'],
  ]);
  assert.deepEqual(outline(CORPUS['an inner multipart without end'] ?? ''), [
    'multipart/mixed',
    ['multipart/mixed', ['text/plain', 'one']],
    ['text/plain', 'two'],
  ]);
  assert.deepEqual(outline(CORPUS['spaces behind delimiters'] ?? ''), [
    'multipart/mixed',
    ['text/plain', 'one'],
  ]);
  assert.deepEqual(outline(CORPUS['no last delimiter'] ?? ''), [
    'multipart/mixed',
    ['text/plain', 'one'],
    ['text/plain', 'two\r\n'],
  ]);
});

test('the line end in front of a delimiter belongs to it, even the empty line of a header (RFC 2046 section 5.1.1)', () => {
  const inner = 'Content-Type: multipart/mixed; boundary=in\r\n\r\n--in\r\nX: y\r\n\r\n--in\r\n\r\n--in\r\n';
  const text = `Content-Type: multipart/mixed; boundary=out\r\n\r\n--out\r\n${inner}--out\r\nX: y\r\n--out--\r\n`;
  const [multipart, cut] = read(text).parts;
  const shown = [...(multipart?.parts ?? []), cut].map((part) => [
    text.slice(part?.header, part?.body),
    text.slice(part?.body, part?.end),
  ]);
  assert.deepEqual(shown, [
    ['X: y\r\n', ''],
    ['', ''],
    ['', ''],
    ['X: y', ''],
  ]);
  assert.deepEqual(
    [...(multipart?.parts ?? []), cut].map((part) => part?.lines),
    [0, 0, 0, 0],
  );
  const afterDelimiter = text.indexOf('--in\r\n--out') + '--in\r\n'.length;
  assert.deepEqual([multipart?.parts[2]?.header, multipart?.end], [afterDelimiter, afterDelimiter]);
  const nested = read('Content-Type: multipart/digest; boundary=d\r\n\r\n--d\r\n\r\n--d--').parts[0];
  assert.deepEqual([nested?.message?.header, nested?.message?.end], [nested?.header, nested?.end]);
});

test('an inner multipart may have the boundary of the outer one', () => {
  const inner = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b--\r\n';
  assert.deepEqual(
    outline(`Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${inner}--b\r\n\r\ntwo\r\n--b--\r\n`),
    ['multipart/mixed', ['multipart/mixed', ['text/plain', 'one']], ['text/plain', 'two']],
  );
});

test('a multipart without parts is plain text', () => {
  for (const parameter of ['', '; boundary=b', '; boundary=""', '; boundary=" "'])
    assert.deepEqual(
      outline(`Content-Type: multipart/mixed${parameter}\r\n\r\n--\r\ntext\r\n`),
      ['text/plain', '--\r\ntext\r\n'],
      parameter,
    );
});

test('a type that is not valid is the default', () => {
  for (const type of ['', 'text', '/', 'a/b/c', ';', 'text/'])
    assert.deepEqual(outline(`Content-Type: ${type}\r\n\r\nx`), ['text/plain', 'x'], type);
  assert.deepEqual(outline(CORPUS['a digest'] ?? ''), [
    'multipart/digest',
    ['message/rfc822', ['text/plain', 'first']],
    ['text/plain', 'second'],
  ]);
});

test('a message that is encoded is not taken apart', () => {
  const encoded =
    'Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\nU3ViamVjdDogeA==\r\n';
  assert.deepEqual(outline(encoded), ['message/rfc822', 'U3ViamVjdDogeA==\r\n']);
});

test('encoding, disposition and the number of lines are read', () => {
  const entity = read(
    'Content-Transfer-Encoding: BASE64\r\nContent-Disposition: Inline; filename=x\r\n\r\none\r\ntwo\nthree',
  );
  assert.equal(entity.encoding, 'base64');
  assert.equal(entity.disposition?.value, 'inline');
  assert.equal(entity.lines, 2);
  const [first] = read(
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\ntwo\r\n--b--',
  ).parts;
  assert.equal(first?.lines, 1);
  assert.equal(first?.encoding, '7bit');
});

test('deeper messages, and those with more parts, are refused', () => {
  const nested = (depth: number): string => 'Content-Type: message/rfc822\r\n\r\n'.repeat(depth);
  assert.ok(read(nested(MAX_DEPTH)));
  assert.throws(() => read(nested(MAX_DEPTH + 1)), TooComplexError);
  const wide = (parts: number): string =>
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n'.repeat(parts)}`;
  assert.equal(read(wide(MAX_PARTS - 1)).parts.length, MAX_PARTS - 1);
  assert.throws(() => read(wide(MAX_PARTS)), TooComplexError);
});

test('white space at the end of a boundary is ignored', () => {
  const text = 'Content-Type: multipart/mixed; boundary="b "\r\n\r\n--b\r\n\r\none\r\n--b --\r\n--b--\r\n';
  assert.deepEqual(outline(text), ['multipart/mixed', ['text/plain', 'one\r\n--b --']]);
});

test('a boundary that is longer than a line is none', () => {
  const delimited = (boundary: string): unknown =>
    read(
      `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n--${boundary}\r\n\r\nx\r\n--${boundary}--`,
    ).parts.length;
  assert.equal(delimited('b'.repeat(900)), 1);
  assert.equal(delimited('b'.repeat(1_000)), 0);
});

test('an opaque message has a header, and one body', () => {
  const { type, subtype, body, end, fields } = readOpaque(Buffer.from(SECTIONS));
  assert.equal(`${type}/${subtype}`, 'application/octet-stream');
  assert.equal(body, SECTIONS.indexOf('preamble'));
  assert.equal(end, SECTIONS.length);
  assert.equal(fields[1]?.value, 'outer');
  assert.equal(readOpaque(Buffer.from('Subject: x\r\n')).body, 12);
  const long = `${`X: ${'x'.repeat(994)}\r\n`.repeat(300)}\r\n`;
  const { fields: first, body: longBody } = readOpaque(Buffer.from(long));
  assert.equal(longBody, long.length);
  assert.equal(first.length, Math.ceil((64 * 1024) / 999));
});

const PIECES = [
  'Content-Type: multipart/mixed; boundary=a\r\n',
  'Content-Type: multipart/digest; boundary=b\n',
  'Content-Type: message/rfc822\r\n',
  ...['\r\n', '\n', '\r', '--a\r\n', '--a--\r\n', '--b\n', '--b--', 'text', 'X: y\r\n', ' ', '--'],
];
/** Messages made of what parsers of MIME look at. */
const messages = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''));

/** Checks that a part has its place between others, and returns its end. */
function checkPlace(entity: MimeEntity, from: number, to: number): number {
  const { header, body, end, parts, message } = entity;
  assert.ok(from <= header && header <= body && body <= end && end <= to);
  let at = body;
  for (const part of parts) at = checkPlace(part, at, end);
  if (message) {
    assert.equal(message.header, body);
    assert.equal(checkPlace(message, body, end), end);
  }
  return end;
}

function* walk(entity: MimeEntity): Generator<MimeEntity> {
  yield entity;
  for (const inner of [...entity.parts, ...(entity.message ? [entity.message] : [])]) yield* walk(inner);
}

test('every offset lies inside, parts follow each other, and header and body are the message', () => {
  fc.assert(
    fc.property(messages, (text) => {
      const root = read(text);
      assert.equal(root.header, 0);
      assert.equal(checkPlace(root, 0, text.length), text.length);
      for (const { header, body, end, lines } of walk(root)) {
        assert.equal(lines, text.slice(body, end).split('\n').length - 1);
        assert.equal(text.slice(header, body) + text.slice(body, end), text.slice(header, end));
      }
    }),
    { numRuns: 150 },
  );
});

test('only delimiters, preambles and epilogues are in no part', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('x', '-', '\r\n', ' ') }), { minLength: 1 }),
      (bodies) => {
        const text = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${bodies.map((body) => `--b\r\n\r\n${body}\r\n`).join('')}--b--\r\n`;
        const { parts } = read(text);
        assert.deepEqual(
          parts.map(({ body, end }) => text.slice(body, end)),
          bodies,
        );
      },
    ),
  );
});
