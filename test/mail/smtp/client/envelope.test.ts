import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseSize } from '../../../../src/mail/smtp/client/envelope.ts';
import { envelope, inline } from './session-fixture.ts';

const LARGE = envelope({ prefix: new Uint8Array(), message: inline('x'.repeat(2_000)) });

function isRefused(parameter: string): boolean {
  return refuseSize(LARGE, new Map([['SIZE', parameter]])) !== undefined;
}

test('a message larger than the SIZE of the server is not sent', () => {
  assert.ok(isRefused('1999'));
  assert.ok(isRefused('0000000000000001999'));
  assert.ok(!isRefused('2000'));
  assert.equal(refuseSize(LARGE, new Map()), undefined);
});

test('a SIZE of zero or without a number sets no limit', () => {
  assert.ok(!isRefused('0'));
  assert.ok(!isRefused(''));
});

test('a SIZE that is not 1 to 20 digits is ignored', () => {
  for (const parameter of [
    '0x1',
    '1e3',
    '0b1',
    '0o7',
    '+1',
    '-1',
    '1.5',
    ' 1',
    '1 2',
    '1k',
    '1_000',
    'Infinity',
    '１',
    '000000000000000000001',
    '9'.repeat(21),
    '1'.repeat(4_000),
  ]) {
    assert.ok(!isRefused(parameter), JSON.stringify(parameter));
  }
  assert.ok(!isRefused('9'.repeat(20)));
});
