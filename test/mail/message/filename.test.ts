import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cleanFilename, filenameParameters } from '../../../src/mail/message/filename.ts';
import { anyCharacter } from '../../support/any-character.ts';

test('a file name is the last part of a path, without what deceives or breaks lines', () => {
  const names: [string, string][] = [
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\x.pdf', 'x.pdf'],
    ['a/b\\c', 'c'],
    ['a\r\nContent-Type: text/html', 'html'],
    ['a\r\nb\0c\u2028d\u0085e.txt', 'abcde.txt'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['  spaced name.txt ', 'spaced name.txt'],
    ['half \ud800 pair', 'half \ufffd pair'],
    ['', 'attachment'],
    ['..', 'attachment'],
    ['folder/', 'attachment'],
    ['\u202e\r\n', 'attachment'],
    ['.gitignore', '.gitignore'],
    ['naïve 👩‍🚀.pdf', 'naïve 👩‍🚀.pdf'],
  ];
  for (const [given, clean] of names) assert.equal(cleanFilename(given), clean, JSON.stringify(given));
});

test('a long name is cut between characters, and keeps its extension', () => {
  const clean = cleanFilename(`${'名'.repeat(100)}.pdf`);
  assert.equal(clean, `${'名'.repeat(83)}.pdf`);
  assert.equal(cleanFilename(`a.${'x'.repeat(300)}`).length, 255);
  assert.equal(cleanFilename('x'.repeat(300)), 'x'.repeat(255));
});

test('cleaning what is clean changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (text) => {
      const clean = cleanFilename(text);
      assert.equal(cleanFilename(clean), clean);
      assert.ok(clean.length > 0 && Buffer.byteLength(clean) <= 255);
    }),
    { numRuns: 250 },
  );
});

test('ASCII names are quoted strings; others are RFC 2231, with an ASCII likeness for readers that do not know it', () => {
  assert.deepEqual(filenameParameters('a "b".txt'), {
    filename: 'filename="a \\"b\\".txt"',
    name: 'name="a \\"b\\".txt"',
  });
  assert.deepEqual(filenameParameters('naïve *1*.pdf'), {
    filename: "filename*=utf-8''na%C3%AFve%20%2A1%2A.pdf",
    name: 'name="naive *1*.pdf"',
  });
  assert.equal(filenameParameters('Größe "名前" 👩‍🚀.pdf').name, 'name="Gro_e \\"_\\" _.pdf"');
  assert.equal(filenameParameters('.\u0301.').name, 'name="attachment"', 'what is left would be a folder');
  assert.match(filenameParameters('=?utf-8?Q?x?=.txt').filename, /^filename\*=utf-8''/);
});

test('no name is written as an encoded-word, and every line is printable and short enough', () => {
  const anyName = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 300 }),
    fc
      .array(fc.constantFrom('=', '?', '\u2260', 'é', '"', '\\', 'x'), { maxLength: 300 })
      .map((all) => all.join('')),
  );
  fc.assert(
    fc.property(anyName, (text) => {
      const { filename, name } = filenameParameters(cleanFilename(text));
      for (const parameter of [filename, name]) {
        assert.match(parameter, /^[ -~]{1,899}$/);
        assert.ok(!parameter.includes('=?'));
      }
    }),
    { numRuns: 250 },
  );
});
