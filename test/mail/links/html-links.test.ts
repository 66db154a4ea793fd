import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHtmlLinks } from '../../../src/mail/links/html-links.ts';

const found = (html: string): string[] =>
  findHtmlLinks(html)
    .links.filter(({ isExcluded }) => !isExcluded)
    .map(({ from, to }) => html.slice(from, to));

test('links are the absolute http(s) addresses of a and area, as they are written', () => {
  const cases: [html: string, links: string[]][] = [
    ['<a href="https://a.example/?x=1&amp;y=2">a</a>', ['https://a.example/?x=1&amp;y=2']],
    [`<A HREF='HTTP://a.example'>a</A>`, ['HTTP://a.example']],
    ['<a class=b href=https://a.example/x>a</a>', ['https://a.example/x']],
    ['<map><area shape=rect href="http://a.example/"/></map>', ['http://a.example/']],
    ['<a href=" https://a.example">a</a>', [' https://a.example']],
    ['<a href="ht\ntps:\\\\a.example">a</a>', ['ht\ntps:\\\\a.example']],
    ['<a href="&#104;ttps&colon;//a.example">a</a>', ['&#104;ttps&colon;//a.example']],
    ['<a href="https://1.example" href="https://2.example">a</a>', ['https://1.example']],
    ['<a href="/relative">a</a><a href="//b.example">b</a><a>c</a><a href>d</a>', []],
    ['<a href="mailto:a@b.example">a</a><a href="javascript:alert(1)">b</a><a href="tel:1">c</a>', []],
    ['<a href="https:a.example">a</a><a href="https:/a.example">a</a>', []],
    ['<link href="https://a.example"><base href="https://a.example"><img src="https://a.example">', []],
    ['<abbr href="https://a.example">a</abbr><a data-href="https://a.example">b</a>', []],
    ['<a clicktracking="off" href="https://a.example">a</a>', []],
    ['<a href="https://a.example" CLICKTRACKING=OFF>a</a>', []],
    ['<a href="https://a.example" clicktracking="on">a</a>', ['https://a.example']],
  ];
  for (const [html, links] of cases) assert.deepEqual(found(html), links, html);
});

test('comments, scripts, styles and texts contain no links', () => {
  const link = '<a href="https://a.example">a</a>';
  for (const html of [
    `<!-- ${link} -->`,
    `<!--[if mso]>${link}<![endif]-->`,
    `<script>${link}</script>`,
    `<style>${link}</style>`,
    `<title>${link}</title>`,
    `<textarea>${link}</textarea>`,
    `<p title='${link}'>a</p>`,
    '&lt;a href="https://a.example"&gt;',
    '<a href="https://a.example',
  ])
    assert.deepEqual(found(html), [], html);
  assert.deepEqual(found(`<!--[if !mso]><!-->${link}<!--<![endif]-->`), ['https://a.example']);
});

test('the last end tag of the body is found where it begins', () => {
  for (const [html, bodyEnd] of [
    ['<body>a</body></html>', 7],
    ['<body>a</BODY >', 7],
    ['<p></body>a</body>', 11],
    ['<p>a', null],
    ['<!-- </body> -->', null],
    ['<body>a</bodys>', null],
  ] as const)
    assert.equal(findHtmlLinks(html).bodyEnd, bodyEnd, html);
});

test('a long link is not found, and neither are more than a thousand', () => {
  assert.deepEqual(found(`<a href="https://a.example/${'x'.repeat(4_080)}">a</a>`), []);
  assert.equal(found('<a href="https://a.example/">a</a>'.repeat(1_200)).length, 1_000);
});

test('hostile documents are read to their end', () => {
  const megabyte = (part: string) => part.repeat(Math.floor(1024 ** 2 / part.length));
  for (const part of [
    '<a href="https://a.example/?&amp;&amp;">',
    '<a href="',
    "<a href='&#x",
    '<div>',
    '<<<a ',
    '<!--',
    '<a a=b ',
    '</',
    '&',
    '\0<a href=\0>',
    '<a/href=https://a.example/',
  ])
    assert.ok(findHtmlLinks(megabyte(part)).links.length <= 1_000, part);
});
