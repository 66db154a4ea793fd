import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BASE32_DIGITS, bytesToBase32, fromBase32, toBase32 } from '../../src/system/base32.ts';

test('numbers have the digits of their value, the most significant first', () => {
  assert.equal(toBase32(0, 4), '0000');
  assert.equal(toBase32(31, 2), '0z');
  assert.equal(toBase32(32, 2), '10');
  assert.equal(toBase32(2 ** 48 - 1, 10), '7zzzzzzzzz');
  for (const value of [0, 31, 32, 20_781, 2 ** 20 - 1]) assert.equal(fromBase32(toBase32(value, 4)), value);
});

test('bytes are written in groups of five', () => {
  assert.equal(bytesToBase32(Buffer.from('00443214c74254b635cf84653a56d7c675be77df', 'hex')), BASE32_DIGITS);
});
