import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeMailboxName,
  decodePattern,
  encodeMailboxName,
} from '../../../../src/mail/imap/encode/strings.ts';

test('names are read and written in modified UTF-7', () => {
  for (const [wire, name] of [
    ['Entw&APw-rfe', 'Entwürfe'],
    ['a &- b', 'a & b'],
    ['~peter/mail/&U,BTFw-/&ZeVnLIqe-', '~peter/mail/台北/日本語'],
    ['&2D3eAA-', '😀'],
  ] as const) {
    assert.equal(decodeMailboxName(wire, '7bit'), name);
    assert.equal(encodeMailboxName(name, '7bit'), wire);
    assert.equal(encodeMailboxName(name, 'utf8'), name);
  }
});

test('modified UTF-7 that is wrong is no name', () => {
  for (const wire of [
    '&',
    'a&b',
    '&AGE-',
    '&APw',
    '&APw=-',
    '&A-',
    '&APw-&APw-',
    '&2D0-',
    '&AA0-',
    'ü',
    'a\tb',
    '&APx-',
  ])
    assert.equal(decodeMailboxName(wire, '7bit'), undefined, wire);
  assert.equal(decodePattern('&', '7bit'), '&');
});

test('quirk 17: a bare & is a character in UTF-8, and a separator at the end is dropped', () => {
  assert.equal(decodeMailboxName('A & B', 'utf8'), 'A & B');
  assert.equal(decodeMailboxName('Archive/', '7bit'), 'Archive');
  assert.equal(decodeMailboxName('a\u0085', 'utf8'), undefined);
});

test('a name of separators takes linear time', () => {
  const start = process.threadCpuUsage();
  assert.equal(decodeMailboxName(`a${'/'.repeat(200_000)}b/`, 'utf8')?.length, 200_002);
  assert.equal(decodeMailboxName('&'.repeat(200_000), '7bit'), undefined);
  const { user, system } = process.threadCpuUsage(start);
  // Reading that is quadratic takes half a minute.
  assert.ok(user + system < 1_000_000);
});

test('INBOX is the same in any case, and the first level alone', () => {
  assert.equal(decodeMailboxName('inBox', '7bit'), 'INBOX');
  assert.equal(decodeMailboxName('inbox/a', '7bit'), 'INBOX/a');
  assert.equal(decodeMailboxName('inboxes', '7bit'), 'inboxes');
  assert.equal(decodeMailboxName('a/inbox', '7bit'), 'a/inbox');
});

test('every name comes back as it was written', () => {
  const name = fc
    .string({ unit: 'binary', minLength: 1 })
    .filter((text) => !/\p{Cc}|\p{Zl}|\p{Zp}|\/$|^inbox/iu.test(text) && text.isWellFormed());
  fc.assert(
    fc.property(name, (text) => {
      const wire = encodeMailboxName(text, '7bit');
      assert.match(wire, /^[ -~]*$/);
      assert.equal(decodeMailboxName(wire, '7bit'), text);
    }),
    { numRuns: 250 },
  );
});
