/** Tests of the tokens of confirmation links. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type ConfirmationToken, openConfirmation, sealConfirmation } from '../../src/links/confirm-token.ts';
import { linkKeysOf } from '../../src/links/keys.ts';
import { openSubscription, sealSubscription } from '../../src/links/unsubscribe-token.ts';
import { newId } from '../../src/system/ids.ts';

const masterKey = randomBytes(32);
const keys = linkKeysOf(masterKey);
const confirmation: ConfirmationToken = {
  tenantId: newId('ten', 1_700_000_000_000),
  audienceId: newId('aud', 1_700_000_000_001),
  contactId: newId('ct', 1_700_000_000_002),
  address: 'Ännä+news@rcpt.example',
  issuedAt: 1_700_000_000_003,
};

test('a token opens to what it was made from, also for the longest address and after a change of the key', () => {
  const longest = { ...confirmation, address: `${'a'.repeat(64)}@${'b'.repeat(185)}.com` };
  const later = linkKeysOf(randomBytes(32), masterKey);
  for (const one of [confirmation, longest]) {
    const token = sealConfirmation(keys, one);
    assert.deepEqual([openConfirmation(keys, token), openConfirmation(later, token)], [one, one]);
    assert.equal(openConfirmation(linkKeysOf(randomBytes(32)), token), undefined);
  }
});

test('a token with any bit changed, added or left out does not open', () => {
  const token = sealConfirmation(keys, confirmation);
  const bytes = Buffer.from(token, 'base64url');
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(openConfirmation(keys, changed.toString('base64url')), undefined, `bit ${bit}`);
  }
  for (let at = 0; at < token.length; at++)
    assert.equal(openConfirmation(keys, token.slice(0, at)), undefined);
  for (const changed of [`${token}A`, `${token}=`, ` ${token}`, 'x'.repeat(1_000)])
    assert.equal(openConfirmation(keys, changed), undefined);
});

test('tokens of the two kinds do not open as each other', () => {
  const { tenantId, contactId, address } = confirmation;
  const unsubscribe = sealSubscription(keys, { tenantId, topicId: undefined, contactId, address });
  assert.equal(openConfirmation(keys, unsubscribe), undefined);
  const sealed = sealConfirmation(keys, confirmation);
  assert.equal(openSubscription(keys, sealed), undefined);
  const renamed = Buffer.from(sealed, 'base64url');
  renamed[0] = 1;
  assert.equal(openSubscription(keys, renamed.toString('base64url')), undefined);
});
