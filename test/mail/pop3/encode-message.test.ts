import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageEncoder } from '../../../src/mail/pop3/encode-message.ts';

/** Encodes a message that comes in pieces of this size. */
function encode(message: string, { pieceOctets = 7, lines }: { pieceOctets?: number; lines?: number } = {}) {
  const encoder = new MessageEncoder(lines);
  const octets = Buffer.from(message, 'latin1');
  let text = '';
  for (let at = 0; at < octets.length; at += pieceOctets)
    text += encoder.next(Buffer.from(octets.subarray(at, at + pieceOctets))).toString('latin1');
  return text + encoder.end();
}

test('a line that begins with a dot gets another one', () => {
  assert.equal(encode('.a: b\r\n\r\n.\r\n..\r\na.b\r\n.'), '..a: b\r\n\r\n..\r\n...\r\na.b\r\n..\r\n.\r\n');
});

test('a last line without a line end gets one, and a message without a body an empty line', () => {
  assert.equal(encode('a: b\r\n\r\nc'), 'a: b\r\n\r\nc\r\n.\r\n');
  assert.equal(encode('a: b\r\n'), 'a: b\r\n\r\n.\r\n');
  assert.equal(encode('a: b'), 'a: b\r\n\r\n.\r\n');
  assert.equal(encode(''), '\r\n.\r\n');
  assert.equal(encode('\r\nbody\r\n'), '\r\nbody\r\n.\r\n');
});

test('NUL becomes 0x80, at which no client stops', () => {
  assert.equal(encode('a: \0\0\r\n\r\n\0'), 'a: \x80\x80\r\n\r\n\x80\r\n.\r\n');
});

test('TOP ends after its lines of the body', () => {
  const message = 'a: b\r\nc: d\r\n\r\n1\r\n\r\n.3\r\n4';
  const top = (lines: number): string => encode(message, { lines });
  assert.equal(top(0), 'a: b\r\nc: d\r\n\r\n.\r\n');
  assert.equal(top(1), 'a: b\r\nc: d\r\n\r\n1\r\n.\r\n');
  assert.equal(top(3), 'a: b\r\nc: d\r\n\r\n1\r\n\r\n..3\r\n.\r\n');
  assert.equal(top(4), encode(message));
  assert.equal(top(1e15), encode(message));
});

test('the result is that of a slow and simple encoder, however the message is cut', () => {
  const part = fc.constantFrom('.', '..', '\r\n', 'a', 'x: y', '\r\n\r\n', '\0', '\r\n.\r\n');
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }),
      fc.option(fc.nat(5), { nil: undefined }),
      fc.integer({ min: 1, max: 9 }),
      (parts, lines, pieceOctets) => {
        const message = parts.join('');
        const simple = simpleEncode(message, lines);
        assert.equal(encode(message, { pieceOctets, ...(lines !== undefined && { lines }) }), simple);
      },
    ),
    { numRuns: 500 },
  );
});

function simpleEncode(message: string, lines = Number.POSITIVE_INFINITY): string {
  const ended = message === '' || message.endsWith('\r\n') ? message : `${message}\r\n`;
  const hasHeaderEnd = message.startsWith('\r\n') || message.includes('\r\n\r\n');
  const all = (hasHeaderEnd ? ended : `${ended}\r\n`).split('\r\n').slice(0, -1);
  const headerLines = all.indexOf('') + 1;
  const wanted = all.slice(0, headerLines + lines);
  const stuffed = wanted.map(
    (line) => `${line.startsWith('.') ? '.' : ''}${line.replaceAll('\0', '\x80')}\r\n`,
  );
  return `${stuffed.join('')}.\r\n`;
}
