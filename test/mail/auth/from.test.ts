import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readFrom } from '../../../src/mail/auth/from.ts';
import { splitFields } from '../../../src/mail/dkim/verify/header-fields.ts';

const read = (header: string) => readFrom(splitFields(Buffer.from(header).toString('latin1')));
const addressesOf = (value: string) => read(`From: ${value}\r\n`).addresses;

test('one address is read in every usual form', () => {
  const cases: [string, string][] = [
    ['a@example.com', 'a@example.com'],
    ['<a@Example.COM>', 'a@example.com'],
    ['Ann <a@example.com>', 'a@example.com'],
    ['Ann B. Smith <a@example.com>', 'a@example.com'],
    ['"Smith, Ann" <a@example.com>', 'a@example.com'],
    ['"ann@other.example" <a@example.com>', 'a@example.com'],
    ['a@example.com <a@example.com>', 'a@example.com'],
    ['Ann (Sales, b@c.example) <a@example.com> (home)', 'a@example.com'],
    ['a@example.com (Ann (Sales\\)))', 'a@example.com'],
    ['=?utf-8?q?=C3=84nn?=\r\n <a@example.com>', 'a@example.com'],
    ['"a b"@example.com', '"a b"@example.com'],
    ['<"a@b"@example.com>', '"a@b"@example.com'],
    ['a..b.@example.com', 'a..b.@example.com'],
    ['<a @ example.com>', 'a@example.com'],
    ['<a@example.com.>', 'a@example.com'],
    ['Ånn <ü@bücher.example>', 'ü@xn--bcher-kva.example'],
    ['a@localhost', 'a@localhost'],
    ['Ann <a@example.com> via List', 'a@example.com'],
    ['Ann <a@example.com> (list) via =?utf-8?q?L=C3=AFst?=', 'a@example.com'],
    ['Shop: Orders <a@example.com>', 'a@example.com'],
    ['Re: Shop: <a@example.com>', 'a@example.com'],
    ['<a . b@example.com>', 'a.b@example.com'],
  ];
  for (const [value, address] of cases) assert.deepEqual(addressesOf(value), [address], value);
});

test('a field that two readers may understand differently has not one address', () => {
  for (const value of [
    '',
    '<>',
    'Ann',
    'a@b.example, c@d.example',
    '<a@b.example><c@d.example>',
    '<a@b.example> <c@d.example>',
    '<a@b.example>c@d.example',
    'c@d.example <a@b.example>',
    '<a@b.example>\\,<c@d.example>',
    '<@route.example:a@b.example>',
    '<@attack.com,@any.com:admin@legitimate.com>',
    'group: a@b.example;',
    'group: a@b.example, c@d.example;',
    '"open <a@b.example>',
    '(open <a@b.example>',
    'a@b.example)',
    'a\\@b.example',
    '=?utf-8?b?PGFAYi5leGFtcGxlPg==?=,<c@d.example>',
    '<a@[192.0.2.1]>',
    '<a@b@c.example>',
    'Smith, Ann <a@b.example>',
    '<a b@c.example>x',
    '<a b@c.example>',
    '<a@b.example> via c@d.example',
    '<a@b.example> via <c@d.example>',
    '<a@b.example> "c@d.example"',
    '<a@b.example>: list',
    'c@d.example: Orders <a@b.example>',
    'Shop: Orders <a@b.example>;',
    'Shop: Orders <a@b.example>, Ann <c@d.example>',
    '>Ann <a@b.example',
    'a@b_.-example',
    'a@b.example\0',
    `${'x'.repeat(5_000)} <a@b.example>`,
  ])
    assert.notEqual(addressesOf(value).length, 1, value);
});

test('an author without an address in any form that a reader may show has none', () => {
  for (const value of ['MAILER-DAEMON', 'Mail Delivery System', 'MAILER-DAEMON <>', '"Mailer" (x)', ''])
    assert.deepEqual(read(`From: ${value}\r\n`), { addresses: [], fields: 1, isNameless: true }, value);
  assert.equal(read('Subject: Hi\r\n').isNameless, true);
  for (const value of [
    '"bank@b.example"',
    '<a@b',
    '=?utf-8?q?bank=40b.example?=',
    'a\uff20b.example',
    '(a@b.example)',
  ])
    assert.equal(read(`From: ${value}\r\n`).isNameless, undefined, value);
  assert.equal(read('From: MAILER-DAEMON\r\nFrom: a@b.example\r\n').isNameless, undefined);
});

test('fields are counted in every spelling', () => {
  for (const header of [
    'From: a@b.example\r\nFrom: c@d.example\r\n',
    ' From: a@b.example\r\nFrom: c@d.example\r\n',
    'From: a@b.example\r\nfrom : c@d.example\r\n',
    'From\r\n : a@b.example\r\nFROM: c@d.example\r\n',
    'From: a@b.example\r\nFrom\t:c@d.example\r\n',
  ])
    assert.deepEqual([read(header).fields, read(header).addresses.length], [2, 2], header);
  assert.equal(read('Sender: a@b.example\r\nResent-From: a@b.example\r\n').fields, 0);
  assert.deepEqual(read('X: 1\r\n From: a@b.example\r\n').fields, 0);
});

test('any text is read in bounded time, and an address in it has a domain', () => {
  const text = fc.array(
    fc.constantFrom('"', '<', '>', '@', ',', '(', ')', '\\', ':', ';', 'a', '.', ' ', '\r\n '),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(text, (parts) => {
      for (const address of addressesOf(parts.join(''))) assert.match(address, /@[a-z0-9]/);
    }),
  );
  for (const unit of ['(', '"', '<', '\\', 'a@', ',', '"\\'])
    assert.notEqual(addressesOf(unit.repeat(4_000 / unit.length)).length, 1);
});
