import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readFieldLines, readFields } from '../../../src/mail/message/header-block.ts';

function fieldsOf(text: string) {
  const octets = Buffer.from(text, 'latin1');
  return readFields(octets, { start: 0, end: octets.length }).map(({ name, value }) => `${name}=${value}`);
}

test('fields are unfolded and trimmed, with LF and with CRLF', () => {
  assert.deepEqual(fieldsOf('Subject: a\r\n b\r\n\tc \r\nX-Empty:\r\nTo : x\n y\n\n'), [
    'subject=a b\tc',
    'x-empty=',
    'to=x y',
  ]);
});

test('a line that is not a field is skipped with its continuation', () => {
  assert.deepEqual(fieldsOf('From someone\r\n more\r\nno colon\r\n: no name\r\nA:1\r\n leads\r\n'), [
    'a=1 leads',
  ]);
});

test('octets of 8 bits are UTF-8 or windows-1252, and NUL and CR are spaces', () => {
  assert.deepEqual(fieldsOf('A: \xc3\xa9\r\nB: \xe9\r\nC: x\0y\rz\r\n'), ['a=é', 'b=é', 'c=x y z']);
});

test('the number of fields and the length of a value are bounded', () => {
  assert.equal(fieldsOf('A: 1\r\n'.repeat(10_001)).length, 10_000);
  assert.equal(fieldsOf(`A:${'x'.repeat(300_000)}\r\n`)[0]?.length, 2 + 256 * 1024);
});

test('the lines of all fields are the header', () => {
  const text = fc.string({ unit: fc.constantFrom('A', ':', ' ', '\r', '\n', '\r\n', 'é') });
  fc.assert(
    fc.property(text, (header) => {
      const octets = Buffer.from(header);
      const lines = [...readFieldLines(octets, { start: 0, end: octets.length })];
      assert.equal(lines.map(({ start, end }) => octets.toString('utf8', start, end)).join(''), header);
    }),
  );
});
