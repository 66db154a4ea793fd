import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bounceLocalPart,
  complaintLocalPart,
  feedbackLoopLocalPart,
  findReturnAddresses,
  isProviderName,
  readFeedbackLoopAddress,
  readReturnAddress,
  returnAddressKeyOf,
  unsubscribeLocalPart,
} from '../../src/queue/return-path.ts';
import { BASE32_DIGITS } from '../../src/system/base32.ts';
import { newId } from '../../src/system/ids.ts';
import { createSealer } from '../../src/system/seal.ts';
import { seededRandom } from '../faults/seeded-random.ts';

const DAY_MS = 86_400_000;
const ATTEMPT = Date.UTC(2026, 10, 24, 15, 30);
const DAY = Date.UTC(2026, 10, 24);
const key = returnAddressKeyOf({ sealer: createSealer(Buffer.alloc(32, 1)) });
const otherKey = returnAddressKeyOf({ sealer: createSealer(Buffer.alloc(32, 2)) });
const emailId = newId('em', ATTEMPT);
const bounce = bounceLocalPart(key, { emailId, attemptedAt: ATTEMPT });
const complaint = complaintLocalPart(key, { emailId, position: 3 });

test('a return path names the email and the day of the attempt, in lower-case base32 and at most 64 octets', () => {
  assert.match(bounce, /^b\+[0-9a-hjkmnp-tv-z]+$/);
  assert.ok(bounce.length <= 64);
  assert.ok(bounce.includes(emailId.slice('em_'.length)), 'an operator can read the id in a log');
  assert.deepEqual(readReturnAddress(key, bounce), { kind: 'bounce', emailId, attemptedOn: DAY });
  assert.notEqual(bounceLocalPart(key, { emailId, attemptedAt: ATTEMPT + DAY_MS }), bounce);
});

test('an address for complaints names the email, and the recipient when each has an address of its own', () => {
  assert.deepEqual(readReturnAddress(key, complaint), { kind: 'complaint', emailId, position: 3 });
  const first = complaintLocalPart(key, { emailId, position: 0 });
  assert.deepEqual(readReturnAddress(key, first), { kind: 'complaint', emailId, position: 0 });
  const shared = complaintLocalPart(key, { emailId, position: undefined });
  assert.deepEqual(readReturnAddress(key, shared), { kind: 'complaint', emailId, position: undefined });
});

test('an address to unsubscribe names the email and the recipient, and is not one of another kind', () => {
  for (const position of [0, 3, 999]) {
    const local = unsubscribeLocalPart(key, { emailId, position });
    assert.match(local, /^u\+[0-9a-hjkmnp-tv-z]{54}$/);
    assert.deepEqual(readReturnAddress(key, local.toUpperCase()), { kind: 'unsubscribe', emailId, position });
    for (const kind of ['b', 'c']) assert.equal(readReturnAddress(key, kind + local.slice(1)), undefined);
    assert.equal(readReturnAddress(otherKey, local), undefined);
  }
});

test('letters may change their case on the way', () => {
  assert.deepEqual(readReturnAddress(key, bounce.toUpperCase()), readReturnAddress(key, bounce));
});

test('addresses of other kinds, lengths, keys and installations are unknown', () => {
  const unknown = [
    ...['', 'b+', bounce.slice(0, -1), `${bounce}0`, ` ${bounce.slice(1)}`, `u${bounce.slice(1)}`],
    ...[`c${bounce.slice(1)}`, `b${complaint.slice(1)}`, `d${bounce.slice(1)}`, `${bounce.slice(0, -1)}u`],
    // These letters change their length in lower case.
    ...[`b+${'İ'.repeat(27)}`, `b+${'İ'.repeat(54)}`, `${bounce.slice(0, -2)}İ`],
  ];
  for (const text of unknown) assert.equal(readReturnAddress(key, text), undefined, text);
  assert.equal(readReturnAddress(otherKey, bounce), undefined);
  assert.equal(readReturnAddress(otherKey, complaint), undefined);
});

test('no change of a character, and no part of another address, makes an address', () => {
  const random = seededRandom(31);
  const others = [
    bounceLocalPart(key, { emailId: newId('em', ATTEMPT), attemptedAt: ATTEMPT }),
    complaint,
    unsubscribeLocalPart(key, { emailId, position: 3 }),
  ];
  for (let round = 0; round < 10_000; round++) {
    const at = Math.floor(random.between(2, bounce.length));
    const other = others[round % others.length] ?? '';
    const changed =
      round % 3 === 0
        ? bounce.slice(0, at) + other.slice(at)
        : bounce.slice(0, at) + BASE32_DIGITS[Math.floor(random.between(0, 32))] + bounce.slice(at + 1);
    if (changed === bounce || changed === other) continue;
    assert.equal(readReturnAddress(key, changed), undefined, changed);
  }
});

test('an address that is registered with a provider names it, and nobody can guess it', () => {
  const yahoo = feedbackLoopLocalPart(key, 'yahoo');
  assert.match(yahoo, /^f\+yahoo\.[0-9a-hjkmnp-tv-z]{24}$/);
  assert.equal(readFeedbackLoopAddress(key, yahoo.toUpperCase()), 'yahoo');
  assert.equal(readReturnAddress(key, yahoo), undefined);
  for (const text of [yahoo.replace('yahoo', 'gmail'), yahoo.slice(0, -1), 'f+yahoo.', 'f+', `${yahoo}0`])
    assert.equal(readFeedbackLoopAddress(key, text), undefined, text);
  assert.equal(readFeedbackLoopAddress(otherKey, yahoo), undefined);
  assert.equal(readFeedbackLoopAddress(key, bounce), undefined);
  assert.ok(feedbackLoopLocalPart(key, 'x'.repeat(20)).length <= 64);
  assert.deepEqual(['yahoo', 'x'.repeat(20), '', 'Yahoo', 'a.b', 'x'.repeat(21)].map(isProviderName), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('the addresses of emails are found anywhere in a text, and only so many are checked', () => {
  const texts = [`<${bounce.toUpperCase()}@bounce.example>`, 'nothing', `x;${complaint}; ${bounce}`];
  const kinds = findReturnAddresses(key, texts).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['bounce', 'complaint', 'bounce']);
  const forged = Array.from({ length: 100 }, () => `b+${newId('em', 0).slice(3)}${'0'.repeat(28)}`);
  assert.deepEqual(findReturnAddresses(key, [...forged, bounce]), []);
});
