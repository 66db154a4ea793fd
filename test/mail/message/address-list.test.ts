import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAddressList } from '../../../src/mail/message/address-list.ts';

/** Returns each address as `name|route|mailbox|host`, with `-` for a missing one. */
function read(text: string, max = 100): string[] {
  return readAddressList(text, max).map(({ name, route, mailbox, host }) =>
    [name, route, mailbox, host].map((value) => value ?? '-').join('|'),
  );
}

test('addresses with names, comments, quotes and encoded-words are read', () => {
  for (const [text, ...expected] of [
    ['a@b.example', '-|-|a|b.example'],
    ['<a@b.example>', '-|-|a|b.example'],
    ['John Q. Public <a@b.example>, c@d', 'John Q. Public|-|a|b.example', '-|-|c|d'],
    ['"Doe, \\"J\\"" <a@b>', 'Doe, "J"|-|a|b'],
    ['a@b (John (the one) \\) Doe)', 'John (the one) ) Doe|-|a|b'],
    ['"" <a@b>', '-|-|a|b'],
    ['=?utf-8?Q?a,_b?= <a@b>', '=?utf-8?Q?a,_b?=|-|a|b'],
    ['"john doe"@b', '-|-|john doe|b'],
    ['"a@b"@c', '-|-|a@b|c'],
    ['a . b @ c . d', '-|-|a.b|c.d'],
    ['a@[192.0.2.1]', '-|-|a|[192.0.2.1]'],
    ['Jörg <j@k>', 'Jörg|-|j|k'],
    [',, a@b ,,', '-|-|a|b'],
    [''],
    [' , '],
  ] as const)
    assert.deepEqual(read(text), expected, text);
});

test('groups are marked at their start and their end', () => {
  assert.deepEqual(read('A Group: x <a@b>, c@d;, e@f'), [
    '-|-|A Group|-',
    'x|-|a|b',
    '-|-|c|d',
    '-|-|-|-',
    '-|-|e|f',
  ]);
  assert.deepEqual(read('undisclosed-recipients:;'), ['-|-|undisclosed-recipients|-', '-|-|-|-']);
  assert.deepEqual(read('Open: a@b'), ['-|-|Open|-', '-|-|a|b', '-|-|-|-']);
});

test('a source route is apart from the address', () => {
  assert.deepEqual(read('X <@one,@two.example:a@b>, c@d'), ['X|@one,@two.example|a|b', '-|-|c|d']);
});

test('what an address lacks is named, because NIL would mark a group', () => {
  for (const [text, expected] of [
    ['someone', '-|-|someone|MISSING_DOMAIN'],
    ['someone@', '-|-|someone|MISSING_DOMAIN'],
    ['@host', '-|-|MISSING_MAILBOX|host'],
    ['<>', '-|-|MISSING_MAILBOX|MISSING_DOMAIN'],
    ['x <a@b> junk', 'x|-|a|b'],
    ['x <a@b', 'x|-|a|b'],
    ['a:b@c:d', '-|-|b|c:d'],
  ] as const)
    assert.equal(
      read(text)
        .filter((address) => address !== '-|-|a|-')
        .at(0),
      expected,
      text,
    );
});

test('at most so many addresses are read', () => {
  assert.deepEqual(read('a@b, c@d, e@f', 2), ['-|-|a|b', '-|-|c|d']);
  assert.deepEqual(read('g: a@b;', 1), ['-|-|g|-']);
});

test('any text is read, and groups are closed', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '@', '<', '>', ',', ';', ':', '"', '\\', '(', ')', '[', ' '),
  });
  fc.assert(
    fc.property(text, (value) => {
      let isInGroup = false;
      for (const { mailbox, host } of readAddressList(value, 1_000)) {
        if (host !== null) assert.ok(host !== '' && mailbox !== null && mailbox !== '');
        else {
          assert.equal(isInGroup, mailbox === null);
          isInGroup = mailbox !== null;
        }
      }
      assert.ok(!isInGroup);
    }),
  );
});
