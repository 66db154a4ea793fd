import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderTemplate } from '../../src/templates/render.ts';
import { anyCharacter } from '../support/any-character.ts';

const VALUES = {
  email: 'ann+tag@a.example',
  name: 'A&admin=1',
  link: 'https://a.example/x?y=1&z=2',
  bare: 'a.example/x',
  encoded: 'a%20b',
  partly: '100% of "it"',
  path: 'a/b ü',
  js: 'javascript:alert(1)',
  odd: ' java\tscript:alert(1)',
  data: 'data:text/html,<script>1</script>',
  app: 'acme://open',
  java: 'java',
  script: 'script:alert(1)',
};

type Case = readonly [source: string, transactional: string, marketing?: string];

function renders(source: string, form: 'html' | 'text', isMarketing: boolean): string {
  return renderTemplate(source, VALUES, { form, isMarketing }).text;
}

const HTML: readonly Case[] = [
  [
    '<a href="https://x.example/?email={{email}}">',
    '<a href="https://x.example/?email=ann%2Btag%40a.example">',
  ],
  ['<a href="?name={{name}}">', '<a href="?name=A%26admin%3D1">'],
  ['<a href="?next={{link}}#top">', '<a href="?next=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2#top">'],
  [
    "<a\nclass='a > b' HREF = '/u/{{path}}/{{name}}'>",
    "<a\nclass='a > b' HREF = '/u/a%2Fb%20%C3%BC/A%26admin%3D1'>",
  ],
  ['<a title="1 < 2" data-x="<" href="/u/{{name}}">', '<a title="1 < 2" data-x="<" href="/u/A%26admin%3D1">'],
  ['<a href="?x=1">1 < 2 {{name}}</a> < {{name}}', '<a href="?x=1">1 < 2 A&amp;admin=1</a> < A&amp;admin=1'],
  ['<a href=/u/{{name}}>', '<a href=/u/A%26admin%3D1>'],
  ['<a href="{{link}}">', '<a href="https://a.example/x?y=1&amp;z=2">'],
  ['<a href=" {{link}}">', '<a href=" https://a.example/x?y=1&amp;z=2">'],
  ['<img src={{bare}}>', '<img src=a.example/x>'],
  ['<a href="{{link}}&w={{name}}">', '<a href="https://a.example/x?y=1&amp;z=2&w=A%26admin%3D1">'],
  ['<a href="https://{{bare}}">', '<a href="https://a.example/x">'],
  ['<a href="https://{{bare}}/{{name}}">', '<a href="https://a.example/x/A%26admin%3D1">'],
  [
    '<a href="mailto:{{email}}?subject={{name}}">',
    '<a href="mailto:ann+tag@a.example?subject=A%26admin%3D1">',
  ],
  ['<a href="?q={{encoded}}">', '<a href="?q=a%20b">', '<a href="?q=a%2520b">'],
  ['<a href="?q={{partly}}">', '<a href="?q=100%25%20of%20%22it%22">'],
  ['<a href="?q={{raw name}}">', '<a href="?q=A&amp;admin=1">'],
  ['<a href="{{url link}}">', '<a href="https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2">'],
  ['<a href="?q={{nobody|a b}}&r={{nobody|a%20b}}">', '<a href="?q=a%20b&r=a%20b">'],
  ['<a href="?q={{ url nobody | a b }}">', '<a href="?q=a%20b">'],
  ['<a href="?q={{{name}}}">', '<a href="?q=A&admin=1">'],
  [
    '<form action="/f/{{name}}"><td background="/b/{{name}}">',
    '<form action="/f/A%26admin%3D1"><td background="/b/A%26admin%3D1">',
  ],
  [
    '<img srcset="/a?{{name}} 1x, {{link}} 2x">',
    '<img srcset="/a?A%26admin%3D1 1x, https://a.example/x?y=1&amp;z=2 2x">',
  ],
  [
    '<p style="color: {{name}}; background: url(\'/x?{{name}}\')">',
    '<p style="color: A&amp;admin=1; background: url(\'/x?A%26admin%3D1\')">',
  ],
  ['<p style="background: url({{partly}})">', '<p style="background: url(100%%20of%20%22it%22)">'],
  [
    '<style>a { background: url(/x?{{name}}) }</style>{{name}}',
    '<style>a { background: url(/x?A%26admin%3D1) }</style>A&amp;admin=1',
  ],
  [
    '<p title="?q={{name}}">https://x.example/?q={{name}}</p>',
    '<p title="?q=A&amp;admin=1">https://x.example/?q=A&amp;admin=1</p>',
  ],
  ['<a title="{{nobody|">"}}" href="?q={{name}}">', '<a title="&quot;&gt;&quot;" href="?q=A%26admin%3D1">'],
  ['<a href="/{{#if name}}?n={{name}}{{else}}?e={{email}}{{/if}}">', '<a href="/?n=A%26admin%3D1">'],
  ['<a href="{{#if nobody}}x{{else}}{{link}}{{/if}}">', '<a href="https://a.example/x?y=1&amp;z=2">'],
  ['<a href="{{js}}">', '<a href="javascript:alert(1)">', '<a href="javascript%3Aalert%281%29">'],
  [
    '<a href="{{raw odd}}">',
    '<a href=" java\tscript:alert(1)">',
    '<a href="%20java%09script%3Aalert%281%29">',
  ],
  [
    '<img src="{{data}}">',
    '<img src="data:text/html,&lt;script&gt;1&lt;/script&gt;">',
    '<img src="data%3Atext%2Fhtml%2C%3Cscript%3E1%3C%2Fscript%3E">',
  ],
  ['<a href="{{java}}{{script}}">', '<a href="javascript:alert(1)">', '<a href="javascript%3Aalert(1)">'],
  ['<a href="{{app}}">', '<a href="acme://open">'],
];
const TEXT: readonly Case[] = [
  ['See https://x.example/?email={{email}}.', 'See https://x.example/?email=ann%2Btag%40a.example.'],
  [
    '(https://x.example/u/{{name}}?q={{email}})',
    '(https://x.example/u/A%26admin%3D1?q=ann%2Btag%40a.example)',
  ],
  ['{{link}} and {{email}}', 'https://a.example/x?y=1&z=2 and ann+tag@a.example'],
  ['{{bare}}?token={{name}}', 'a.example/x?token=A%26admin%3D1'],
  ['{{raw name}} {{url name}}', 'A&admin=1 A%26admin%3D1'],
  ['https://x.example/?q={{encoded}}', 'https://x.example/?q=a%20b', 'https://x.example/?q=a%2520b'],
  ['https://x.example/ {{name}}/{{name}}', 'https://x.example/ A&admin=1/A&admin=1'],
];

for (const [form, cases] of [
  ['html', HTML],
  ['text', TEXT],
] as const)
  for (const [source, transactional, marketing = transactional] of cases)
    test(`${form}: ${source}`, () => {
      assert.equal(renders(source, form, false), transactional);
      assert.equal(renders(source, form, true), marketing);
    });

test('in a broadcast no value adds a parameter to a query or a scheme to a link, whatever it is', () => {
  const parts = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.constantFrom(
      'javascript:',
      'JaVa\nScript:x',
      '\u0001data:',
      '&a=b',
      '#x',
      '%41',
      '?x',
      '//evil.example',
      'vbscript:',
    ),
  );
  const value = fc.array(parts, { maxLength: 4 }).map((all) => all.join(''));
  fc.assert(
    fc.property(value, value, (one, two) => {
      const render = (source: string) =>
        renderTemplate(source, { one, two }, { form: 'text', isMarketing: true }).text;
      const url = new URL(render('https://x.example/p/{{one}}?a={{two}}&b=1'));
      assert.deepEqual([...url.searchParams.keys()], ['a', 'b']);
      assert.equal(url.searchParams.get('a'), two.toWellFormed());
      assert.equal(url.hostname, 'x.example');
      const html = renderTemplate(
        '<a href="{{one}}{{two}}">',
        { one, two },
        { form: 'html', isMarketing: true },
      );
      const href = html.text.slice('<a href="'.length, -2).replaceAll('&amp;', '&').replaceAll('&#39;', "'");
      assert.doesNotMatch(
        URL.parse(href, 'https://base.example')?.protocol ?? '',
        /^(?:javascript|data|vbscript|file|blob|about):/,
      );
    }),
    { numRuns: 100 },
  );
});

test('hostile templates are read in little time', () => {
  const parts = [
    '<a href="{{x}}',
    "<a b='{{x}}",
    '<{{x}}',
    ' x="{{x}}"',
    '<style>url({{x}}',
    'https://{{x}}',
  ];
  const prefixes = [
    `<p style="${'url('.repeat(900)}'`,
    `<p x="${'{{'.repeat(1_500)}`,
    `${'a'.repeat(4_000)} `,
    `<a ${'b="" '.repeat(700)}`,
  ];
  const texts = [
    ...parts.map((part) => part.repeat(9_000)),
    ...prefixes.flatMap((prefix) => [`${prefix}${'{{x}}'.repeat(9_000)}`, `${prefix}{{x}}`.repeat(250)]),
    '{{#if x}}{{x}}{{/if}}'.repeat(900),
  ];
  const started = process.cpuUsage();
  for (const form of ['html', 'text'] as const)
    for (const one of texts) renderTemplate(one, { x: 'y' }, { form, isMarketing: true });
  const { user } = process.cpuUsage(started);
  // Each of the texts takes some 30 ms; a search that is not bounded takes seconds.
  assert.ok(user < 2_000_000, `${user} µs`);
});
