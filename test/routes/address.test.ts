import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readDomain } from '../../src/domains/name.ts';
import { readRouteAddress } from '../../src/routes/address.ts';
import { AppError } from '../../src/system/errors.ts';

test('every accepted address parses to itself and ends with its domain', () => {
  const local = fc.oneof(
    fc.constant('*'),
    fc.emailAddress().map((text) => text.split('@')[0] ?? ''),
    fc.string(),
  );
  const domain = fc.oneof(
    fc.domain(),
    fc.constantFrom('BÜCHER.example', 'shop.example', 'a..b', 'x'),
    fc.string(),
  );
  fc.assert(
    fc.property(local, domain, (before, behind) => {
      const text = `${before}@${behind}`;
      try {
        const route = readRouteAddress('address', text);
        assert.deepEqual(readRouteAddress('address', route.address), route);
        assert.equal(readDomain('domain', route.domain), route.domain);
        assert.ok(route.address.endsWith(`@${route.domain}`));
        assert.equal(route.address, route.address.toLowerCase());
        assert.equal(route.address.includes('*'), route.address.startsWith('*@'));
      } catch (error) {
        assert.ok(error instanceof AppError);
        assert.deepEqual([error.code, error.options.param], ['validation_error', 'address']);
      }
    }),
  );
});

test('an address that could be taken for another one is refused for that reason', () => {
  const refusals: [string, RegExp][] = [
    ['=?utf-8?q?a?=@shop.example', /^AppError: `address` must not have `=\?` before the @/],
    ['"a@b"@shop.example', /^AppError: `address` must not have `<`, `>` or `@` inside a quoted local part/],
    ['pаypal@shop.example', /^AppError: `address` must have the letters of one script/],
    ['☺@shop.example', /^AppError: `address` must have only letters/],
  ];
  const { address } = readRouteAddress('address', 'JU\u0308RGEN@shop.example');
  assert.equal(address, 'jürgen@shop.example');
  for (const [text, why] of refusals) assert.throws(() => readRouteAddress('address', text), why, text);
});
