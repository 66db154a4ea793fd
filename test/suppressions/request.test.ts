import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAddress, readAddress } from '../../src/suppressions/request.ts';

test('an address that could be taken for another one is refused for that reason', () => {
  assert.equal(findAddress('"a>"@example.com'), undefined);
  assert.throws(
    () => readAddress('email', '=?utf-8?q?a?=@example.com'),
    /`email` must not have `=\?` before the @/,
  );
});
