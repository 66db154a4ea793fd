import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import addressparser from 'nodemailer/lib/addressparser';
import {
  addressKey,
  explainRefusal,
  formatMailbox,
  isAsciiAddress,
  parseMailbox,
} from '../../src/mail/address.ts';
import { parseReversePath } from '../../src/mail/smtp/server/path.ts';
import { anyCharacter } from '../support/any-character.ts';

const domainLabel = fc
  .stringMatching(/^[a-z](?:[a-z0-9-]{0,10}[a-z0-9])?$/)
  .filter((label) => label[3] !== '-');
const domain = fc.array(domainLabel, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));
const dotAtom = fc
  .stringMatching(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,12}(?:\.[A-Za-z0-9+_-]{1,12}){0,2}$/)
  .filter((text) => !text.includes('=?'));
const quotedLocal = fc
  .string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 20,
  })
  .filter((text) => text.trim() !== '' && !/[<>@]|=\?/.test(text))
  .map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
const address = fc.tuple(fc.oneof(dotAtom, quotedLocal), domain).map((parts) => parts.join('@'));
const name = fc
  .string({ unit: anyCharacter, maxLength: 80 })
  .filter((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.length <= 256)
  .map((text) => text.replace(/^ +| +$/g, ''));

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

test('every mailbox is read back from its header form', () => {
  fc.assert(
    fc.property(name, address, (displayName, text) => {
      const mailbox = parseMailbox(displayName === '' ? text : `${quoted(displayName)} <${text}>`);
      assert.ok(mailbox);
      assert.equal(mailbox.name, displayName === '' ? undefined : displayName);
      const header = formatMailbox(mailbox);
      assert.match(header, /^[ -~]+$/);
      assert.deepEqual(parseMailbox(header), mailbox);
    }),
    { numRuns: 150 },
  );
});

test('an accepted mailbox is one address for another parser too, and the same one', () => {
  const pieces = fc.constantFrom(
    'a',
    'b.c',
    '@',
    '.com',
    '<',
    '>',
    '"',
    '\\',
    ',',
    ';',
    ':',
    '(',
    ')',
    ' ',
    'x@y.zz',
    'é',
    '=?',
    '%',
  );
  const wild = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      fc.oneof(
        wild,
        wild.map((text) => `${text}<a@b.com>`),
        address,
      ),
      (text) => {
        const mailbox = parseMailbox(text);
        fc.pre(mailbox !== undefined);
        const others = addressparser(text, { flatten: true });
        assert.equal(others.length, 1, text);
        const at = others[0]?.address.lastIndexOf('@') ?? -1;
        assert.equal(domainToASCII(others[0]?.address.slice(at + 1) ?? ''), mailbox.domain, text);
      },
    ),
    { numRuns: 750 },
  );
});

test('display names may be atoms, quoted, in any script, or already encoded', () => {
  const names: [string, string | undefined][] = [
    ['Ada Lovelace <a@b.example>', 'Ada Lovelace'],
    ['Acme   Inc.  <a@b.example>', 'Acme Inc.'],
    ['"Lovelace, Ada \\"Countess\\"" <a@b.example>', 'Lovelace, Ada "Countess"'],
    ['"a" "b" <a@b.example>', 'a b'],
    ['Ünï Çødé 名前 👩‍🚀 <a@b.example>', 'Ünï Çødé 名前 👩‍🚀'],
    ['=?utf-8?Q?J=C3=B6rg?= =?UTF-8?B?IMOcYmVs?= <a@b.example>', 'Jörg Übel'],
    ['"=?utf-8?Q?J=C3=B6rg?=" <a@b.example>', '=?utf-8?Q?J=C3=B6rg?='],
    ['=?iso-8859-1?Q?J=F6rg?= <a@b.example>', '=?iso-8859-1?Q?J=F6rg?='],
    ['<a@b.example>', undefined],
    ['"" <a@b.example>', undefined],
    ['  a@b.example  ', undefined],
  ];
  for (const [text, expected] of names) {
    const mailbox = parseMailbox(text);
    assert.ok(mailbox, text);
    assert.equal(mailbox.name, expected, text);
    assert.equal(mailbox.address, 'a@b.example', text);
    assert.deepEqual(parseMailbox(formatMailbox(mailbox)), mailbox);
  }
});

test('the domain becomes lower-case A-labels, the local part stays as it is', () => {
  assert.equal(parseMailbox('Ada.B@EXAMPLE.Com')?.address, 'Ada.B@example.com');
  assert.equal(parseMailbox('a@Bücher.example')?.domain, 'xn--bcher-kva.example');
  assert.equal(parseMailbox('a@日本語。jp')?.domain, 'xn--wgv71a119e.jp');
  assert.equal(parseMailbox('"a.b"@c.example')?.localPart, 'a.b');
  assert.equal(parseMailbox('"a\\b c"@c.example')?.localPart, '"ab c"');
  assert.equal(addressKey('Ada@EXAMPLE.com'), addressKey('ADA@example.COM'));
});

test('anything but exactly one plain mailbox is refused', () => {
  const label = 'l'.repeat(63);
  const refused = [
    '',
    'a',
    'a@',
    '@b.example',
    'a@b',
    'a@localhost',
    'a@b.example.',
    'a@b..example',
    'a@-b.example',
    'a@b_c.example',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@bü%63her.example',
    'a@bücher.example:25',
    'a@１２７.0.0.1',
    `a@${'l'.repeat(64)}.example`,
    `a@${label}.${label}.${label}.${label}.example`,
    `${'a'.repeat(245)}@b.example`,
    '""@b.example',
    '.a@b.example',
    'a..b@b.example',
    'a b@b.example',
    '"é é"@b.example',
    'a@b@c.example',
    'a@b.example, e@evil.example',
    'a@b.example,',
    'a@b.example e@evil.example',
    'g: a@b.example, e@evil.example;',
    'Name <a@b.example>, e@evil.example',
    'e@evil.example <a@b.example>',
    'Lovelace, Ada <a@b.example>',
    'a@b.example (comment)',
    'Name (comment) <a@b.example>',
    '<@route.example:a@b.example>',
    '<a@b.example',
    '<<a@b.example>>',
    '<a@b.example><e@evil.example>',
    '< a@b.example >',
    '"Name <a@b.example>',
    'a"b"c <a@b.example>',
    'a@b.example\r\nBcc: e@evil.example',
    'a@b.example\n',
    'a\0@b.example',
    '"a\r\nb"@b.example',
    'Na\rme <a@b.example>',
    'Na\u2028me <a@b.example>',
    'Na\ud800me <a@b.example>',
    '=?utf-8?Q?a=0D=0ABcc:_e=40evil.example?= <a@b.example>',
    `"${'n'.repeat(257)}" <a@b.example>`,
    '"xclow3n@gmail.com x"@internal.example@evil.example',
    `${'a@b.example '.repeat(1000)}`,
    'a\\@b@evil.example',
    '"a@b.example, "e@evil.example',
    '"a@b.example" e@evil.example',
    'a@b.example。',
    'g:a@b.example',
    'a@b.example\u2028',
    'a@b\ud800.example',
    'a@exam\u00adple.com',
    'a@b\u2060.example',
    'a\uff20b.example',
    'a@b\uff1a25.example',
    'a@\u0301b.example',
    '=?utf-8?Q?a=40b.example?=',
    '=?utf-8?B?DQpCY2M6IGU=?= <a@b.example>',
  ];
  for (const text of refused) assert.equal(parseMailbox(text), undefined, JSON.stringify(text));
});

test('a local part may be UTF-8, but have nothing that hides, reorders or separates text', () => {
  for (const localPart of [
    'jürgen',
    'иван.петров',
    '用户',
    'دعم',
    'ju\u0308rgen',
    'O’Neil',
    '☕',
    'ü'.repeat(32),
  ]) {
    assert.equal(parseMailbox(`${localPart}@b.example`)?.address, `${localPart}@b.example`);
    assert.equal(parseMailbox(`"${localPart}"@b.example`)?.localPart, localPart);
  }
  assert.equal(
    formatMailbox({ ...need('Jürgen <jürgen@b.example>') }),
    '=?UTF-8?Q?J=C3=BCrgen?= <jürgen@b.example>',
  );
  for (const hostile of HOSTILE) {
    assert.equal(parseMailbox(`a${hostile}b@c.example`), undefined, JSON.stringify(hostile));
    assert.equal(parseReversePath(`<a${hostile}b@c.example>`), undefined, JSON.stringify(hostile));
  }
  for (const localPart of ['ü'.repeat(123), '.ü', 'ü.', 'ü..ü', 'a\u200bb', 'a\u00adb'])
    assert.equal(parseMailbox(`${localPart}@b.example`), undefined, localPart);
});

/** Controls, C1 controls, separators, bidirectional controls, U+FFFD, and code points that are unassigned, private or none. */
const HOSTILE = [
  ...['\0', '\r\n', '\u0085', '\u009f', '\u00a0', '\u2028', '\u3000', '\u202e', '\u2066', '\u061c', '\u037e'],
  ...[
    '\ufffd',
    '\u0378',
    '\ue000',
    '\ufffe',
    '\u{10ffff}',
    '\ud800',
    '<',
    '>',
    '@',
    ',',
    ';',
    ':',
    '(',
    '\\',
  ],
];

function need(text: string) {
  const mailbox = parseMailbox(text);
  assert.ok(mailbox, text);
  return mailbox;
}

test('a key is the same for every case and every composition of letters, and its own key', () => {
  for (const spelling of [
    'jürgen@b.example',
    'JÜRGEN@B.example',
    'ju\u0308rgen@b.example',
    'JU\u0308RGEN@b.example',
  ])
    assert.equal(addressKey(spelling), 'jürgen@b.example');
  for (const spelling of ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς', 'οδυσσευσ', 'οδυςςευς'])
    assert.equal(addressKey(`${spelling}@b.example`), 'οδυσσευς@b.example');
  assert.equal(addressKey('ΑΣ+Β@b.example'), 'ας+β@b.example', 'as without the tag');
  assert.equal(addressKey('J\u030c@b.example'), 'ǰ@b.example', 'the capital alone has no composed form');
  // Other letters are other addresses: ß is not ss, and the Turkish ı is not i.
  assert.notEqual(addressKey('strasse@b.example'), addressKey('straße@b.example'));
  assert.notEqual(addressKey('ı@b.example'), addressKey('i@b.example'));
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 12 }), (local) => {
      const key = addressKey(`${local}@b.example`);
      assert.equal(addressKey(key), key);
      assert.equal(addressKey(`${local.normalize('NFD')}@b.example`), key);
      if (parseMailbox(`${local}@b.example`)) assert.equal(parseMailbox(key)?.address, key);
    }),
    { numRuns: 250 },
  );
});

test('a local part that could be taken for another address is refused, and the refusal says why', () => {
  const ENCODED_WORD = /^must not have `=\?` before the @/;
  const IN_QUOTES = /^must not have `<`, `>` or `@` inside a quoted local part/;
  const SPACES = /^must have more than spaces in its quoted local part/;
  const refused: [string, RegExp][] = [
    ['=?utf-8?q?boss=40bank.example=3e?=@b.example', ENCODED_WORD],
    ['a=?b@b.example', ENCODED_WORD],
    ['=?@b.example', ENCODED_WORD],
    ['"=?x"@b.example', ENCODED_WORD],
    ['"=\\?x y"@b.example', ENCODED_WORD],
    ['Ada <=?utf-8?q?a?=@b.example>', ENCODED_WORD],
    ['"a@gmail.com x"@internal.example', IN_QUOTES],
    ['"a@b.example"@c.example', IN_QUOTES],
    ['"a\\@b.example"@c.example', IN_QUOTES],
    ['"@"@c.example', IN_QUOTES],
    ['"a>"@c.example', IN_QUOTES],
    ['"a <b"@c.example', IN_QUOTES],
    ['"a\\<b"@c.example', IN_QUOTES],
    ['Ada <"a>b"@c.example>', IN_QUOTES],
    ['"a\\"@b.example, x\\""@evil.example', IN_QUOTES],
    ['" "@c.example', SPACES],
    ['"   "@c.example', SPACES],
    ['"\\ "@c.example', SPACES],
  ];
  for (const [text, why] of refused) {
    assert.equal(parseMailbox(text), undefined, text);
    assert.match(explainRefusal(text) ?? '', why, text);
  }
});

test('only a refusal of a legal address has a reason of its own', () => {
  for (const text of [
    'a@b.example',
    '=a?@b.example',
    '"a b"@c.example',
    'a@b',
    '""@b.example',
    'a@b@c.example',
    '',
  ]) {
    assert.equal(explainRefusal(text), undefined, text);
  }
  for (const text of [
    '=a?@b.example',
    '?=@b.example',
    '"a b"@c.example',
    '" a"@c.example',
    '"a=b"@c.example',
  ]) {
    assert.ok(parseMailbox(text), text);
  }
});

test('a name that reads like an address stays a name, whichever way it is written', () => {
  for (const text of ['"a@b.example" <e@evil.example>', '=?utf-8?Q?a=40b.example?= <e@evil.example>']) {
    const mailbox = parseMailbox(text);
    assert.equal(mailbox?.name, 'a@b.example');
    assert.equal(mailbox?.address, 'e@evil.example');
    assert.equal(mailbox && formatMailbox(mailbox), '"a@b.example" <e@evil.example>');
  }
});

test('letters that look alike are other domains, and say so', () => {
  assert.equal(parseMailbox('a@\u0430pple.example')?.domain, 'xn--pple-43d.example');
  assert.equal(parseMailbox('a@apple.example')?.domain, 'apple.example');
  assert.equal(parseMailbox('a@\uff41pple.example')?.domain, 'apple.example');
});

test('an accepted mailbox is one line of printable text, in ASCII if its address is, and reads back as the same mailbox', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter, maxLength: 20 }),
      fc.string({ unit: anyCharacter, maxLength: 10 }),
      fc.string({ unit: anyCharacter, maxLength: 10 }),
      (title, local, host) => {
        for (const text of [
          `${title} <${local}@${host}.example>`,
          `${title} <a@b.example>`,
          `a@${host}.example`,
        ]) {
          const mailbox = parseMailbox(text);
          if (!mailbox) continue;
          const header = formatMailbox(mailbox);
          assert.match(header, isAsciiAddress(mailbox.address) ? /^[ -~]+$/ : /^[^\p{C}\p{Zl}\p{Zp}]+$/u);
          assert.deepEqual(parseMailbox(header), mailbox);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a text of any length is refused by its length alone', () => {
  for (const unit of [' ', '"', '\\', 'a.', '<', 'a@b.example,', 'é', '=?utf-8?q?']) {
    const text = unit.repeat(100_000);
    for (const form of [text, `${text}@b.example`, `a@${text}`, `<${text}>`, `"${text}" <a@b.example>`]) {
      assert.equal(parseMailbox(form), undefined);
    }
  }
  assert.ok(parseMailbox(`${' '.repeat(4_000)}a@b.example`));
  assert.equal(parseMailbox(`${' '.repeat(4_096)}a@b.example`), undefined);
});

test('hostile text is refused without backtracking', () => {
  const bombs = [
    '"'.repeat(4000),
    '\\'.repeat(4000),
    'a.'.repeat(2000),
    '<'.repeat(4000),
    '=?utf-8?q?'.repeat(400),
    'a '.repeat(2000),
  ];
  for (const bomb of bombs) {
    for (const text of [bomb, `${bomb}@b.example`, `${bomb}@b.example>`]) {
      assert.equal(parseMailbox(text), undefined);
    }
  }
});
