import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { realClock } from '../../src/system/clock.ts';
import { cleanForeignText, MAX_FOREIGN_TEXT_CHARACTERS } from '../../src/system/foreign-text.ts';
import { startTls } from '../../src/system/tls.ts';
import { anyCharacter } from '../support/any-character.ts';

/** First and last code points of dropped ranges, copied from the Unicode files that the source names. */
const HIDDEN: [first: number, last: number][] = [
  [0x00, 0x08],
  [0x0e, 0x1f],
  [0x7f, 0x84],
  [0x86, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x70f, 0x70f],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x2064],
  [0x2066, 0x206f],
  [0x2800, 0x2800],
  [0xe000, 0xe010],
  [0xf8ff, 0xf8ff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0x13430, 0x1343f],
  [0x16fe4, 0x16fe4],
  [0x1d159, 0x1d159],
  [0xe0001, 0xe0001],
  [0xe0020, 0xe007f],
  [0xe0100, 0xe01ef],
  [0xf0000, 0xf0010],
  [0x10fffd, 0x10fffd],
];

test('controls, bidi controls and zero-width characters are dropped', () => {
  for (const [first, last] of HIDDEN) {
    for (let code = first; code <= last; code++) {
      const text = `a${String.fromCodePoint(code)}b`;
      assert.equal(cleanForeignText(text), 'ab', `U+${code.toString(16)}`);
    }
  }
});

test('characters that end a line or a word become one space', () => {
  assert.equal(
    cleanForeignText('one\r\ntwo\tthree\u0085four\u2028five\u2029six\n'),
    'one two three four five six',
  );
});

test('text that people read stays as it is, in any script', () => {
  for (const text of [
    '550 5.1.1 No such user',
    'Kein Postfach für „Jörg“',
    'ユーザーは存在しません',
    'لا يوجد',
    '👍',
    'آية \u06dd١',
    'Tiếng Vie\u0302\u0323t',
  ]) {
    assert.equal(cleanForeignText(text), text);
  }
});

test('at most eight combining marks follow each other, whatever hides between them', () => {
  const mark = '\u0301';
  assert.equal(cleanForeignText(`a${mark.repeat(8)}b`), `a${mark.repeat(8)}b`);
  assert.equal(cleanForeignText(`a${`${mark}\u200b`.repeat(500)}b`), `a${mark.repeat(8)}b`);
});

test('half a surrogate pair becomes a replacement character', () => {
  assert.equal(cleanForeignText('a\ud800b'), 'a\ufffdb');
});

test('a text is cut at its limit, never inside a character, and shows that it was cut', () => {
  const exact = 'x'.repeat(MAX_FOREIGN_TEXT_CHARACTERS);
  assert.equal(cleanForeignText(exact), exact);
  assert.equal(cleanForeignText(`${exact}x`), `${'x'.repeat(MAX_FOREIGN_TEXT_CHARACTERS - 1)}…`);
  assert.equal(cleanForeignText('abc👍def', 5), 'abc…');
});

test('the reason of an OpenSSL error is kept, without the thread and the source location', () => {
  const alert =
    'write EPROTO 40A7F1D2B77F0000:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1605:SSL alert number 40\n';
  assert.equal(cleanForeignText(alert), 'write EPROTO ssl/tls alert handshake failure (SSL alert number 40)');
  const plain =
    '140245:error:0A00010B:SSL routines:tls_get_more_records:wrong version number:../deps/openssl/ssl/record/methods/tls_common.c:354:\n';
  assert.equal(cleanForeignText(plain.repeat(2)), 'wrong version number wrong version number');
});

test('the error of a real handshake has neither thread nor place once it is clean', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write('250 this is not TLS\r\n'));
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const socket = connect(address.port, '127.0.0.1');
  const handshake = startTls(realClock, socket, { serverName: '', timeoutMs: 60_000, hello: 'default' });
  const error = await handshake.then(
    () => assert.fail('the handshake succeeded'),
    (reason: Error) => reason,
  );
  assert.match(error.message, /:error:/);
  assert.match(cleanForeignText(error.message), /^[a-zA-Z ]*wrong version number$/);
});

test('the result is short, visible and well-formed for any input', () => {
  const pieces = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('\u202e', '\u200b', '\ud83d', '1:error:1:', ':', '\n', 'x'.repeat(400)),
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const text = cleanForeignText(parts.join(''));
      assert.ok(text.length <= MAX_FOREIGN_TEXT_CHARACTERS);
      assert.doesNotMatch(text, /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u);
      assert.ok(text.isWellFormed());
    }),
  );
});
