/**
 * Compares ENVELOPE, BODY, BODYSTRUCTURE and sections of generated messages with the answers of Dovecot. The messages leave out where
 * the two differ on purpose: an inner multipart that ends with its last delimiter, a digest with messages that end in their header, file
 * names without quotes, repeated fields that should occur once, and text behind an address.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readMailboxMessage } from '../../src/mail/mailbox-message/read.ts';
import { chooseFields, findSection, type Section } from '../../src/mail/message/section.ts';
import { unpackDovecot } from './dovecot.ts';

const MESSAGES = 1_000;

const addresses = fc
  .array(
    fc.constantFrom(
      ...[
        'a@b.example',
        '<a@b.example>',
        'John Q. Public <a@b.example>',
        '"Doe, J" <a@b>',
        'a@b (John (x) Doe)',
      ],
      ...[
        '"john doe"@b',
        '"a@b"@c',
        'a@[192.0.2.1]',
        '=?utf-8?Q?J=C3=B6rg?= <j@k>',
        'G: a@b, <c@d>;',
        'none:;',
      ],
      ...['<@r,@s:a@b>', 'someone', '"" <a@b>', '"q\\"uote" <a@b>', '@host', 'someone@', 'X Y <a@b> (c)'],
      ...['"a" b "c" <d@e>', '=?utf-8?Q?a?= =?utf-8?Q?b?= <c@d>', 'Foo (c) Bar <x@y>', '"<x@y>" <a@b>'],
    ),
    { maxLength: 4 },
  )
  .map((list) => list.join(', '));
const FIELDS = [
  ...['Subject:', 'Subject: a "b" \\c', 'Subject: x\r\n y', 'Subject: =?utf-8?Q?a?=\r\n =?utf-8?Q?b?='],
  ...['Date: Tue, 25 Nov 2025 10:00:00 +0100 (x)', 'Date:', 'Message-ID: <a@b>', 'In-Reply-To: <a@b> <c@d>'],
];
const CONTENT_FIELDS = [
  ...[
    'Content-Type: text/plain',
    'Content-Type: TEXT/HTML; Charset="x"',
    'Content-Type: image/gif; name="a b.gif"',
  ],
  ...[
    'Content-Type: a/b; n*0=ab; n*1=cd',
    "Content-Type: a/b; n*=utf-8''%C3%A9",
    'Content-Type: a/b (c); d=e',
  ],
  ...[
    "Content-Type: a/b; n*0*=utf-8''%C3%A9; n*1=x",
    'Content-Type: a/b; x="a\\"b"; y=',
    'Content-Type: message/x',
  ],
  ...[
    'Content-Transfer-Encoding: base64',
    'Content-Transfer-Encoding: 8bit (x)',
    'Content-Transfer-Encoding:',
  ],
  ...['Content-Disposition: attachment; filename="x y"', 'Content-Disposition: inline', 'Content-ID: <a@b>'],
  ...['Content-Disposition: attachment;', 'Content-Description: some text', 'Content-Description:'],
  ...[
    'Content-MD5: abc=',
    'Content-Language: en',
    'Content-Language: en, de (x)',
    'Content-Location: http://x/y',
  ],
];

function lines(fields: readonly string[]): string {
  return fields.map((field) => `${field}\r\n`).join('');
}

function messages(): fc.Arbitrary<string> {
  const selector = (field: string): string => field.split(':')[0] ?? '';
  const addressField = fc
    .tuple(fc.constantFrom('From', 'To', 'Cc', 'Bcc', 'Sender', 'Reply-To'), addresses)
    .map(([name, list]) => `${name}: ${list}`);
  const header = fc
    .tuple(
      fc.array(addressField, { maxLength: 4 }),
      fc.uniqueArray(fc.constantFrom(...FIELDS), { selector, maxLength: 3 }),
    )
    .map((fields) => `MIME-Version: 1.0\r\n${lines(fields.flat())}`);
  const body = fc
    .array(fc.constantFrom('text', '', '--x', '--a'), { maxLength: 4 })
    .map((all) => all.join('\r\n'));
  const leaf = fc
    .tuple(fc.uniqueArray(fc.constantFrom(...CONTENT_FIELDS), { selector, maxLength: 4 }), body)
    .map(([fields, text]) => `${lines(fields)}\r\n${text}`);
  const { entity } = fc.letrec<{ entity: string; message: string; multipart: string }>((tie) => ({
    entity: fc.oneof({ depthSize: 'small' }, leaf, tie('message'), tie('multipart')),
    message: fc
      .tuple(header, tie('entity'))
      .map(([fields, inner]) => `Content-Type: message/rfc822\r\n\r\n${fields}${inner}`),
    multipart: fc
      .tuple(fc.constantFrom('mixed', 'alternative'), fc.array(tie('entity'), { minLength: 1, maxLength: 3 }))
      .map(([subtype, parts]) => {
        // An outer boundary is longer than those inside, and begins like some of them.
        const boundary = `a${parts.join('').length}`;
        const delimited = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
        const type = `Content-Type: multipart/${subtype}; boundary="${boundary}"; x=y\r\nContent-Language: de\r\n`;
        return `${type}\r\npre\r\n${delimited}--${boundary}--\r\nepilogue`;
      }),
  }));
  return fc.tuple(header, entity).map((parts) => parts.join(''));
}

const SECTIONS = [
  ...[
    '',
    'HEADER',
    'TEXT',
    '1',
    '2',
    '1.MIME',
    '2.MIME',
    '1.1',
    '2.1',
    '1.2',
    '1.HEADER',
    '2.HEADER',
    '1.TEXT',
  ],
  ...['2.TEXT', '1.1.1', '1.1.MIME', '2.1.MIME', '1.1.HEADER', '1.1.1.MIME', '1.2.1', '2.1.TEXT', '1.1.1.1'],
  ...['HEADER.FIELDS (FROM SUBJECT)', 'HEADER.FIELDS.NOT (FROM SUBJECT)'],
];

function sectionOf(name: string): Section {
  const [, part = '', text = '', fields] = /^([\d.]*?)\.?([A-Z.]*)(?: \((.*)\))?$/.exec(name) ?? [];
  return {
    part: part === '' ? [] : part.split('.').map(Number),
    text: (text || undefined) as Section['text'],
    fields: fields?.split(' ') ?? [],
  };
}

/** Names of types, charsets and parameters have no case. */
function normalize(answer: string): string {
  return answer.toLowerCase();
}

test('structures and sections of generated messages are those of Dovecot', async () => {
  const texts = fc.sample(messages(), { numRuns: MESSAGES, seed: 1 }).map((text) => Buffer.from(text));
  const dovecot = await unpackDovecot();
  const items = ['ENVELOPE BODY BODYSTRUCTURE', ...SECTIONS.map((section) => `BODY.PEEK[${section}]`)];
  const [structures = [], ...sections] = await dovecot.fetch(texts, items);
  assert.equal(structures.length, MESSAGES);
  for (const [index, octets] of texts.entries()) {
    const { envelope, body, bodyStructure, root } = await readMailboxMessage(octets);
    const ours = `ENVELOPE ${envelope.ascii} BODY ${body.ascii} BODYSTRUCTURE ${bodyStructure.ascii}`;
    assert.equal(normalize(ours), normalize(structures[index] ?? ''), JSON.stringify(octets.toString()));
    for (const [at, name] of SECTIONS.entries()) {
      const section = sectionOf(name);
      const range = findSection(root, section);
      // Dovecot answers something for sections that a message does not have.
      if (!range) continue;
      const text = chooseFields(octets.subarray(range.start, range.end), section).toString();
      const answer = sections[at]?.[index] ?? '';
      assert.equal(text, answer.slice(answer.indexOf('] ') + 2).replace(/^""$/, ''), `${name} of ${octets}`);
    }
  }
});
