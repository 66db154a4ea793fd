/** What a check finds in an email, each thing in the smallest email that has it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CheckInput, checkMessage } from '../../../src/emails/check/check-message.ts';
import { type Code, KINDS } from '../../../src/emails/check/findings.ts';

const FIELDS = {
  From: 'Ada <ada@sender.example>',
  Subject: 'Your order',
  'Message-ID': '<1@sender.example>',
  'DKIM-Signature': 'v=1',
};

/** Returns the input for an email in which nothing is found, with these changes. */
function email({ header = {}, ...more }: Partial<CheckInput> & { header?: object } = {}): CheckInput {
  const fields = Object.entries({ ...FIELDS, ...header })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ({ name, value: String(value), text: String(value) }));
  return {
    ...{ fields, html: '<p>Hello</p>', text: 'Hello', sizeBytes: 1_000, isMarketing: false },
    ...{ unsubscribeUrl: null, missingVariables: [] },
    ...more,
  };
}

const codes = (input: CheckInput) => checkMessage(input).findings.map(({ code }) => code);
const html = (text: string) => email({ html: text });
const subject = (text: string) => email({ header: { Subject: text } });
const link = (href: string, text = 'x') => html(`<a href="${href}">${text}</a>`);
const MARKETING = {
  isMarketing: true,
  unsubscribeUrl: 'http://localhost/u/1',
  html: '<a href="http://localhost/u/1">Unsubscribe</a>',
  header: {
    'List-Unsubscribe': '<https://a.example/>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
};

const CASES: readonly (readonly [code: Code, input: CheckInput])[] = [
  ['html_clipped', html(`<p>${'word '.repeat(21_000)}</p>`)],
  ['message_large', email({ sizeBytes: 11 * 1024 * 1024 })],
  ['text_missing', email({ text: null })],
  ['text_missing', email({ text: ' \n' })],
  ['image_only', html('<img src="https://a.com/a.png" alt="All that we offer">')],
  ['language_missing', html('<html><body>Hello</body></html>')],
  ['image_without_alt', html(`${'word '.repeat(30)}<img src="https://a.com/a.png">`)],
  ['image_empty', html(`${'word '.repeat(30)}<img src=" " alt="">`)],
  ['image_relative', html(`${'word '.repeat(30)}<img src="/a.png" alt="">`)],
  ['image_insecure', html(`${'word '.repeat(30)}<img src="http://a.com/a.png" alt="">`)],
  ['unsupported_image', html(`${'word '.repeat(30)}<img src="https://a.com/a.svg?x" alt="">`)],
  ['unsupported_image', html(`${'word '.repeat(30)}<img src="data:image/png;base64,AA==" alt="">`)],
  ['unsupported_element', html('<form><b>x</b></form>')],
  ['unsupported_element', html('<SCRIPT>1 < 2</SCRIPT>')],
  ['unsupported_element', html('<p onclick="run()">x</p>')],
  ['unsupported_element', html('<link rel="stylesheet" href="https://a.com/a.css">')],
  ['unsupported_element', html('<body><style>p { color: red }</style></body>')],
  ['unsupported_css', html('<p style="position: absolute">x</p>')],
  ['unsupported_css', html('<style>/* a { } */ .a { color: red; DISPLAY : grid }</style>')],
  ['unsupported_css', html('<style>@font-face { font-family: A }</style>')],
  ['unsupported_css', html('<style>:root { --brand: red }</style>')],
  ['unsupported_css', html('<p style="background:url(https://a.com/a.png)">x</p>')],
  ['link_empty', link('')],
  ['link_empty', link('#')],
  ['link_empty', html('<a>x</a>')],
  ['link_relative', link('/orders')],
  ['link_relative', link('//a.com/orders')],
  ['link_malformed', link('https://')],
  ['link_scheme', link('javascript:run()')],
  ['link_unreachable', link('https://localhost/')],
  ['link_unreachable', link('https://intranet/')],
  ['link_unreachable', link('https://shop.test./')],
  ['link_http', link('http://a.com/')],
  ['link_address_literal', link('https://192.0.2.1/')],
  ['link_address_literal', link('https://[2001:db8::1]/')],
  ['link_address_literal', link('https://3221225985/')],
  ['link_credentials', link('https://ann:secret@a.com/')],
  ['link_shortened', link('https://bit.ly/x')],
  ['link_misleading', link('https://a.com/', 'www.b.com')],
  ['link_long', link(`https://a.com/${'x'.repeat(2_048)}`)],
  ['link_without_text', link('https://a.com/', ' ')],
  ['unsubscribe_missing', email({ ...MARKETING, html: '<p>News</p>' })],
  [
    'list_unsubscribe_missing',
    email({ ...MARKETING, header: { ...MARKETING.header, 'List-Unsubscribe': null } }),
  ],
  [
    'list_unsubscribe_post_missing',
    email({ ...MARKETING, header: { ...MARKETING.header, 'List-Unsubscribe-Post': null } }),
  ],
  ['placeholder_left', subject('Hello {{name}}')],
  ['placeholder_left', html('<p>Hello *|FNAME|*</p>')],
  ['placeholder_left', email({ html: null, text: 'Hello <%= name %>' })],
  ['variable_empty', email({ missingVariables: ['name'] })],
  ['subject_missing', email({ header: { Subject: null } })],
  ['subject_long', subject('word '.repeat(21))],
  ['subject_capitals', subject('YOUR LAST CHANCE 2')],
  ['subject_punctuation', subject('Today!!')],
  ['subject_false_reply', subject('Re: your order')],
  ['from_no_reply', email({ header: { From: 'Shop <no-reply@sender.example>' } })],
  ['from_name_address', email({ header: { From: '"ceo@bank.example" <x@sender.example>' } })],
  ['message_id_missing', email({ header: { 'Message-ID': null } })],
  ['dkim_missing', email({ header: { 'DKIM-Signature': null } })],
  ['priority_high', email({ header: { 'X-Priority': '1 (Highest)' } })],
];

test('nothing is found in a plain email, nor in complete marketing mail', () => {
  assert.deepEqual(codes(email()), []);
  assert.deepEqual(codes(email({ html: null })), []);
  assert.deepEqual(codes(email(MARKETING)), []);
});

for (const [code, input] of CASES) {
  test(`${code} is found alone`, () => {
    assert.deepEqual([...new Set(codes(input))], [code]);
  });
}

test('each code has a case here, but for that of HTML that cannot be read', () => {
  const tried = new Set(CASES.map(([code]) => code));
  const missing = Object.keys(KINDS).filter((code) => !tried.has(code as Code));
  assert.deepEqual(missing, ['html_too_complex']);
});

test('what looks alike and is right is not found', () => {
  for (const fine of [
    link('mailto:a@a.com'),
    link('tel:+491234'),
    link('#part'),
    html('<a name="part"></a>'),
    link('https://www.a.com/x', 'a.com'),
    link('https://a.com/', 'Visit https://b.com for more'),
    html(`<a href="https://a.com/"><img src="cid:logo" alt="Our shop"></a>${'word '.repeat(30)}`),
    html('<!-- <form> {x} --><p style="color: red; padding: 0">x</p>'),
    html('<head><style>@media (max-width: 9px) { .display-grid { color: red } }</style><body>x'),
    email({ header: { Subject: 'Re: your order', 'In-Reply-To': '<1@a>' } }),
    subject('AUTO 2030'),
    subject('東京の新しいお店のお知らせです'),
  ])
    assert.deepEqual(codes(fine), [], JSON.stringify(fine.html ?? fine.fields));
});

test('a finding says where it is, how often, and shows its first places within bounds', () => {
  const lines = Array.from({ length: 9 }, (_, index) => `<a href="/${index}${'x'.repeat(400)}">x</a>\r\n`);
  const [finding] = checkMessage(html(lines.join('\n'))).findings;
  assert.deepEqual([finding?.code, finding?.severity, finding?.count], ['link_relative', 'error', 9]);
  assert.deepEqual(
    finding?.places.map(({ line, text }) => [line, text.length]),
    [1, 3, 5, 7, 9].map((line) => [line, 200]),
  );
});

test('errors come first, and each lack of a mail program is a finding of its own with its source', () => {
  const { findings } = checkMessage(
    html('<p style="display:grid;position:fixed">x</p><video></video>\n<a href="/x">x</a>'),
  );
  assert.deepEqual(
    findings.map(({ code, source }) => [
      code,
      source?.replace('https://www.caniemail.com/features/', '') ?? null,
    ]),
    [
      ['link_relative', null],
      ['unsupported_element', 'html-video/'],
      ['unsupported_css', 'css-display-grid/'],
      ['unsupported_css', 'css-position/'],
    ],
  );
  assert.match(findings[2]?.message ?? '', /Gmail, Outlook for Windows, Yahoo$/);
});

test('links are listed with what a reader sees, up to a hundred', () => {
  const many = '<a href="https://a.com/?a=1&amp;b=2">Two\n <b>words</b></a>'.repeat(103);
  const { links } = checkMessage(html(many));
  assert.deepEqual([links.listed.length, links.omitted], [100, 3]);
  assert.deepEqual(links.listed[0], { url: 'https://a.com/?a=1&b=2', text: 'Two words', line: 1 });
});

test('HTML of the largest size is read in one pass', () => {
  const row = '<tr><td style="padding:4px"><a href="https://a.com/x">Words of a row</a></td></tr>\n';
  const rows = Math.floor((2 * 1024 * 1024) / row.length);
  const { findings, links } = checkMessage(html(`<table>${row.repeat(rows)}</table>`));
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['html_clipped'],
  );
  assert.equal(links.omitted, rows - 100);
});
