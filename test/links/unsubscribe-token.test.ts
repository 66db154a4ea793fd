import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { linkKeysOf } from '../../src/links/keys.ts';
import {
  MAX_TOKEN_CHARACTERS,
  openSubscription,
  type Subscription,
  sealSubscription,
} from '../../src/links/unsubscribe-token.ts';
import { newId } from '../../src/system/ids.ts';

const keys = linkKeysOf(randomBytes(32));
const subscription: Subscription = {
  tenantId: newId('ten', 1_700_000_000_000),
  topicId: newId('top', 1_700_000_000_001),
  contactId: newId('ct', 1_700_000_000_002),
  address: 'Ännä+news@rcpt.example',
};

test('a token opens to what it was made from, with and without a topic and a contact', () => {
  for (const one of [
    subscription,
    { ...subscription, topicId: undefined },
    { ...subscription, contactId: undefined },
    {
      ...subscription,
      topicId: undefined,
      contactId: undefined,
      address: `${'a'.repeat(64)}@${'b'.repeat(185)}.com`,
    },
  ])
    assert.deepEqual(openSubscription(keys, sealSubscription(keys, one)), one);
});

test('one subscription has one token, and another one shares nothing with it but version and key', () => {
  const token = sealSubscription(keys, subscription);
  assert.equal(sealSubscription(keys, { ...subscription }), token);
  const other = sealSubscription(keys, { ...subscription, address: 'ännä+news@rcpt.example' });
  assert.notEqual(other.slice(8, 24), token.slice(8, 24), 'each content has a nonce of its own');
});

test('a token has at most 200 characters for an address of 69 bytes, and never more than the stated maximum', () => {
  const of = (bytes: number) =>
    sealSubscription(keys, { ...subscription, address: 'a'.repeat(bytes) }).length;
  assert.ok(of(69) <= 200, String(of(69)));
  assert.equal(of(254), MAX_TOKEN_CHARACTERS);
});

test('a token with any character changed, added or left out does not open', () => {
  const token = sealSubscription(keys, subscription);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let at = 0; at < token.length; at++) {
    const digit = alphabet.indexOf(token.charAt(at));
    // The first neighbour differs in the last bit, which the decoder may ignore in the last character.
    for (const other of [alphabet.charAt(digit ^ 1), alphabet.charAt((digit + 32) % 64)]) {
      const changed = token.slice(0, at) + other + token.slice(at + 1);
      assert.equal(openSubscription(keys, changed), undefined, `character ${at}`);
    }
    assert.equal(openSubscription(keys, token.slice(0, at)), undefined, `the first ${at} characters`);
  }
  for (const changed of [
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    `${token}\n`,
    token.replace('A', 'A\0'),
    '',
    'x',
  ])
    if (changed !== token) assert.equal(openSubscription(keys, changed), undefined, JSON.stringify(changed));
});

test('a new key leaves the tokens of older keys valid, and a foreign key opens none', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const token = sealSubscription(linkKeysOf(first), subscription);
  const both = linkKeysOf(second, first);
  assert.deepEqual(openSubscription(both, token), subscription);
  assert.notEqual(sealSubscription(both, subscription), token, 'new links use the new key');
  assert.equal(openSubscription(linkKeysOf(second), token), undefined);
});
