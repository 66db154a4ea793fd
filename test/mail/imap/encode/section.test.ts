import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginSection, type WirePieces, writeSection } from '../../../../src/mail/imap/encode/section.ts';

function joined(wire: WirePieces): string {
  return Buffer.concat(wire.map((piece) => Buffer.from(piece))).toString();
}

test('a section is a literal, an empty one is quoted, and a missing one is NIL', () => {
  assert.equal(joined(writeSection('BODY[1]<0>', Buffer.from('ab'))), 'BODY[1]<0> {2}\r\nab');
  assert.equal(joined(writeSection('BODY[]', Buffer.alloc(0))), 'BODY[] ""');
  assert.equal(joined(writeSection('BODY[9]', undefined)), 'BODY[9] NIL');
});

test('BINARY sends a binary literal only for data with NUL', () => {
  assert.equal(beginSection('BINARY[1]', { sizeBytes: 2, isBinary: true }), 'BINARY[1] ~{2}\r\n');
  assert.equal(beginSection('BINARY[1]', { sizeBytes: 2 }), 'BINARY[1] {2}\r\n');
});
