import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { linkKeysOf } from '../../src/links/keys.ts';
import { openTrackingToken, trackingTokens } from '../../src/links/tracking-token.ts';
import { newId } from '../../src/system/ids.ts';

const MASTER = randomBytes(32);
const keys = linkKeysOf(MASTER);
const emailId = newId('em', Date.UTC(2026, 10, 23));
const tokens = trackingTokens(keys, emailId);

test('a token of 48 characters names an email and its link', () => {
  for (const link of [0, 1, 499, 65_535]) {
    const token = tokens.click(link);
    assert.match(token, /^[\w-]{48}$/);
    assert.deepEqual(openTrackingToken(keys, token), { kind: 'click', emailId, link });
  }
  assert.equal(tokens.open().length, 48);
  assert.deepEqual(openTrackingToken(keys, tokens.open()), { kind: 'open', emailId });
});

test('an email always has the same tokens, and another email has others', () => {
  assert.equal(trackingTokens(keys, emailId).click(3), tokens.click(3));
  assert.notEqual(trackingTokens(keys, newId('em', 0)).click(3), tokens.click(3));
  assert.notEqual(tokens.click(0), tokens.open());
});

test('a token with any byte changed, or of another length, is none', () => {
  const token = tokens.click(7);
  const bytes = Buffer.from(token, 'base64url');
  for (let index = 0; index < bytes.length; index++) {
    for (const flip of [1, 0x80, 0xff]) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ flip;
      assert.equal(openTrackingToken(keys, changed.toString('base64url')), undefined, `byte ${index}`);
    }
  }
  for (const other of ['', '-', token.slice(1), `${token}A`, `${token}=`, `.${token}`, ` ${token}`])
    assert.equal(openTrackingToken(keys, other), undefined, other);
});

test('tokens of a former master key stay valid, and those of a foreign one never are', () => {
  const rotated = linkKeysOf(randomBytes(32), MASTER);
  assert.deepEqual(openTrackingToken(rotated, tokens.click(1)), { kind: 'click', emailId, link: 1 });
  assert.notEqual(trackingTokens(rotated, emailId).click(1), tokens.click(1));
  // Keys are named by one byte, so the codes of two hundred of them are tried.
  const foreign = linkKeysOf(randomBytes(32), ...Array.from({ length: 200 }, () => randomBytes(32)));
  assert.equal(openTrackingToken(foreign, tokens.click(1)), undefined);
});
