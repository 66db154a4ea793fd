import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stripHtml, tidyText } from '../../../src/mail/message/html-text-strip.ts';
import { anyCharacter } from '../../support/any-character.ts';

const SEED = 20_261_121;

for (const [html, text] of [
  ['', ''],
  ['plain', 'plain'],
  ['  a \n\t b  ', 'a b'],
  ['<p>a</p><p>b</p>', 'a\n\nb'],
  ['<P CLASS=x>a<BR>b<br/>c', 'a\nb\nc'],
  ['a<br><br><br><br>b', 'a\n\nb'],
  ['<div>a</div><div>b</div>', 'a\nb'],
  ['a<b>b</b> <i> c</i>', 'ab c'],
  ['<table><tr><td>Total</td><td>$5</td></tr><tr><th>x<td>y</table>z', 'Total $5\nx y\n\nz'],
  ['<ul><li>a</li><li> b </li></ul>c', '* a\n* b\n\nc'],
  ['a<hr>b', `a\n\n${'-'.repeat(40)}\n\nb`],
  ['<a href="https://a.example/?b=1&amp;c=2">go <b>there</b></a>.', 'go there [https://a.example/?b=1&c=2].'],
  ["<a class=x href='mailto:a@b.example'>a@b.example</a>", 'a@b.example'],
  ['<a href=https://a.example/>https://a.example/</a>', 'https://a.example/'],
  ['<a href="https://a.example/"><img alt="Logo" src="x"></a>', 'Logo [https://a.example/]'],
  ['<a href="https://a.example/"><img src="x"></a>', 'https://a.example/'],
  ['<a href="#top">top</a> <a href="javascript:x()">js</a> <a name="n">n</a>', 'top js n'],
  ['<a href="https://a.example/">a<a href="https://b.example/">b</a></a>', 'ab [https://b.example/]'],
  ['<title>t</title><style>p > a {}</style>a<script>"<p>b"</script>c<STYLE>d</Style >e', 'ace'],
  ['a<script>never closed', 'a'],
  ['a<!-- <p>b --><!---->c<!doctype x>d<?e?>f</>g', 'acdfg'],
  ['a<!--[if mso]><p>b</p><![endif]-->c<![if !mso]>d<![endif]>', 'acd'],
  ['a<!-- never closed', 'a'],
  ['1 < 2 <3 a<', '1 < 2 <3 a<'],
  ['<p title="a > b" alt=\'>\'>c', 'c'],
  ['<p title="never closed>a', 'a'],
  ["<p it's>a</p>'", "a\n\n'"],
  ['a<b never closed', 'a'],
  ['&amp;&lt;b&gt;&quot;&apos;&nbsp;&eacute;&Eacute;&euro;&hellip;&copy', `&<b>"' éÉ€…©`],
  ['&#65;&#x42;&#128512;&#0;&#xD800;&#x110000;', 'AB😀\ufffd\ufffd\ufffd'],
  ['&Alpha;&#150;&ampx <a href="https://a.test/?x=1&amp;y=2">b</a>', 'Α–&x b [https://a.test/?x=1&y=2]'],
  ['&unknown; & &; &#; &#x; &constructor; &__proto__;', '&unknown; & &; &#; &#x; &constructor; &__proto__;'],
  ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
  ['a&#10;b&#13;c&#7;d\u0000e\u0085f', 'a bcdef'],
  ['sale&nbsp;&zwnj;&#847;&nbsp;&zwnj;&shy;&nbsp;<p>a&shy;b می\u200cخواهم', 'sale\n\nab می\u200cخواهم'],
  ['a\ud800b', 'a\ufffdb'],
] as const) {
  test(`stripped: ${JSON.stringify(html.slice(0, 60))}`, async () =>
    assert.equal(await stripHtml(html), text));
}

test('a long text is read in pieces, and none is cut within a reference', async () => {
  for (let shift = 0; shift < 12; shift++) {
    const text = `${'x'.repeat(16_380 + shift)}&copy;${'y'.repeat(20_000)}`;
    assert.equal(await stripHtml(text), text.replace('&copy;', '©'));
  }
  const references = '&eacute;'.repeat(20_000);
  assert.equal(await stripHtml(references), 'é'.repeat(20_000));
  const astral = '😀'.repeat(20_001);
  assert.equal(await stripHtml(`.${astral}`), `.${astral}`);
});

test('a tag of a thousand stray quotes ends at the next angle', async () => {
  assert.equal(await stripHtml(`<p ${'" '.repeat(999)} a=">">x`), 'x');
  assert.equal(await stripHtml(`<p ${'" '.repeat(1_000)} a=">">x`), '">x');
});

test('the event loop runs other tasks while a document is stripped', async () => {
  let turns = 0;
  let working = true;
  const count = () => {
    turns++;
    if (working) setImmediate(count);
  };
  setImmediate(count);
  const text = await stripHtml('<p>x</p>'.repeat(20_000));
  working = false;
  assert.equal(text, Array(20_000).fill('x').join('\n\n'));
  assert.ok(turns > 20, `${turns} turns`);
});

test('a text without markup loses nothing but white space', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[A-Za-z0-9.,;<>="'éß]+$/), { maxLength: 20 }),
      async (words) => {
        const plain = words.map((word) => word.replace(/<+(?=[a-z])/gi, ''));
        assert.equal(await stripHtml(plain.join(' \n ')), plain.join(' '));
      },
    ),
    { seed: SEED },
  );
});

test('any input becomes text that a message can contain', async () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 10 }),
    fc.constantFrom(
      '<',
      '</',
      '>',
      '"',
      "'",
      '=',
      ' ',
      '<!--',
      '-->',
      '<a href="',
      '<p ',
      '<br>',
      '<script>',
      '</script>',
    ),
    fc.constantFrom(
      '<td>',
      '<li>',
      '&#',
      '&#x0;',
      '&amp;',
      '&#13;',
      '\u200c',
      '\u00a0',
      '</a>',
      '<hr>',
      '<img alt="',
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      const text = await stripHtml(pieces.join(''));
      assert.ok(text.isWellFormed());
      assert.doesNotMatch(text, /[^\P{Cc}\n\t]/u);
      assert.doesNotMatch(text, / \n|\n{3}|^\s|\s$/);
    }),
    { seed: SEED, numRuns: 150 },
  );
});

test('a laid-out text is tidied: padding, trailing spaces, many empty lines, controls', () => {
  const text = '\n\na \u00a0\u200c \n \n\n\u200c \u00a0\n  b\u00ad\u200b\ufeff\u034fc\u0007\r\n\ud800 \n';
  assert.equal(tidyText(text), 'a\n\n  bc\n\ufffd');
});

test('without decoration, the text has the words of the document alone', async () => {
  const html = '<ul><li>one</li></ul><hr><a href="https://x.example/">two</a> <img alt="three">';
  assert.equal(await stripHtml(html, { isDecorated: false }), 'one\n\ntwo three');
  assert.match(await stripHtml(html), /^\* one\n\n-+\n\ntwo \[https:\/\/x\.example\/\] three$/);
});
