import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type TextForm,
  writeNstring,
  writeOctets,
  writeString,
} from '../../../../src/mail/imap/encode/strings.ts';

test('an empty string is never a literal', () => {
  for (const form of ['7bit', 'utf8'] as const) {
    assert.equal(writeString('', form), '""');
    assert.equal(writeString('\0', form), '""');
    assert.equal(writeNstring('', form), '""');
  }
  assert.deepEqual(writeOctets(Buffer.alloc(0)), [Buffer.from('""')]);
  assert.deepEqual(writeOctets(Buffer.alloc(0), { isBinary: true }), [Buffer.from('""')]);
});

test('a missing string is NIL, and the text NIL is quoted', () => {
  assert.equal(writeNstring(null, '7bit'), 'NIL');
  assert.equal(writeNstring('NIL', '7bit'), '"NIL"');
});

test('a string is quoted where possible, else a literal that counts octets', () => {
  assert.equal(writeString('a "b" \\c', '7bit'), '"a \\"b\\" \\\\c"');
  assert.equal(writeString('é', 'utf8'), '"é"');
  assert.equal(writeString('é', '7bit'), '{2}\r\né');
  assert.equal(writeString('a\r\nb', 'utf8'), '{4}\r\na\r\nb');
  assert.equal(Buffer.concat(writeOctets(Buffer.from('a\0'), { isBinary: true })).toString(), '~{2}\r\na\0');
  assert.equal(Buffer.concat(writeOctets(Buffer.from('ab'))).toString(), '{2}\r\nab');
});

/** Returns what a client reads: the text of the string, which takes up the whole of the wire. */
function read(wire: string): string {
  const bytes = Buffer.from(wire);
  const literal = /^\{([1-9][0-9]*)\}\r\n/.exec(wire);
  if (literal) {
    const text = bytes.subarray(literal[0].length);
    assert.equal(text.length, Number(literal[1]));
    return text.toString();
  }
  assert.match(wire, /^"(?:[^"\\\r\n\0]|\\["\\])*"$/);
  return wire.slice(1, -1).replace(/\\(.)/g, '$1');
}

test('any text is read back, and in the 7-bit form only literals have octets of 8 bits', () => {
  const texts = fc.string({
    unit: fc.oneof(fc.constantFrom('"', '\\', '\r', '\n', '\0', 'é', '€'), fc.string()),
  });
  fc.assert(
    fc.property(texts, fc.constantFrom<TextForm>('7bit', 'utf8'), (text, form) => {
      const wire = writeString(text, form);
      assert.equal(read(wire), text.replaceAll('\0', '').toWellFormed());
      if (form === '7bit' && wire.startsWith('"')) assert.doesNotMatch(wire, /[\u0080-\uffff]/);
    }),
  );
});
