import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import Stripe from 'stripe';
import {
  newSecret,
  signingKey,
  signPayload,
  signStandard,
  verifySignature,
} from '../../../src/webhooks/posting/signature.ts';
import { anyCharacter } from '../../support/any-character.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const T = 1_800_000_000;
const BODY = '{"type":"email.delivered","data":{"to":"änn@example.org"}}';

/** HMAC written out as RFC 2104 section 2 has it, so that the vector below does not rest on the code under test. */
function hmacByHand(key: string, text: string): string {
  const block = Buffer.alloc(64);
  Buffer.from(key).copy(block);
  const pad = (byte: number) => Buffer.from(block.map((value) => value ^ byte));
  const hash = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  return hash(pad(0x5c), hash(pad(0x36), Buffer.from(text))).toString('hex');
}

test('the header is t and v1 of specification 6: HMAC-SHA256 of "<t>.<body>" under the secret as it is shown', () => {
  const expected = hmacByHand(SECRET, `${T}.${BODY}`);
  assert.equal(signPayload([signingKey(SECRET)], T, BODY), `t=1800000000,v1=${expected}`);
  assert.equal(expected, VECTOR);
});

/** Also: printf '%s' "$T.$BODY" | openssl dgst -sha256 -hmac "$SECRET" */
const VECTOR = 'df4cddf8a507a3858e8bff82c69529e1eaeb926fdf08f4e3fbe6b440d92a72ee';

test('an independent receiver of the same scheme accepts it', () => {
  const now = Math.floor(Date.now() / 1_000);
  const event = Stripe.webhooks.constructEvent(
    BODY,
    signPayload([signingKey(SECRET)], now, BODY),
    SECRET,
    300,
  );
  assert.equal(event.type as string, 'email.delivered');
});

test('the Standard Webhooks signature is that of the example in its specification', () => {
  const signature = signStandard([signingKey(SECRET)], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
  });
  assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('with two secrets, each signs: two v1 values, and two Standard Webhooks signatures with a space between them', () => {
  const old = newSecret();
  const now = Math.floor(Date.now() / 1_000);
  const header = signPayload([SECRET, old].map(signingKey), now, BODY);
  assert.match(header, /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  for (const secret of [SECRET, old]) {
    assert.ok(verifySignature({ secret, header, body: BODY, nowSeconds: now }));
    assert.ok(Stripe.webhooks.constructEvent(BODY, header, secret, 300));
  }
  const post = { id: 'evt_1', timestampSeconds: now, body: BODY };
  assert.equal(
    signStandard([SECRET, old].map(signingKey), post),
    `${signStandard([signingKey(SECRET)], post)} ${signStandard([signingKey(old)], post)}`,
  );
});

test('every signed body verifies', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.integer({ min: 0, max: 2 ** 40 }), (body, t) => {
      const header = signPayload([signingKey(SECRET)], t, body);
      return verifySignature({ secret: SECRET, header, body, nowSeconds: t });
    }),
  );
});

const signature = signPayload([signingKey(SECRET)], T, BODY);
const v1 = signature.slice(signature.indexOf('v1='));
const REFUSED: Record<string, { header?: string; body?: string; secret?: string; nowSeconds?: number }> = {
  'an empty header': { header: '' },
  'no t': { header: v1 },
  'no v1': { header: `t=${T}` },
  'an empty v1': { header: `t=${T},v1=` },
  'a t that is no number': { header: `t=soon,${v1}` },
  'another t than was signed': { header: `t=${T + 1},${v1}` },
  'another body': { body: `${BODY} ` },
  'another secret': { secret: `${SECRET}x` },
  'the secret without its prefix': { secret: SECRET.slice(6) },
  'a truncated v1': { header: signature.slice(0, -1) },
  'a v1 in capitals': { header: `t=${T},v1=${v1.slice(3).toUpperCase()}` },
  'a signature of another version': { header: `t=${T},v0=${v1.slice(3)}` },
  '301 seconds late': { nowSeconds: T + 301 },
  '301 seconds early': { nowSeconds: T - 301 },
  'more signatures than a rotation makes': { header: `t=${T},${'v1=00,'.repeat(8)}${v1}` },
};

for (const [name, change] of Object.entries(REFUSED)) {
  test(`a receiver refuses ${name}`, () => {
    const post = { secret: SECRET, header: signature, body: BODY, nowSeconds: T };
    assert.equal(verifySignature(post), true);
    assert.equal(verifySignature({ ...post, ...change }), false);
  });
}

test('a difference of 300 seconds is accepted, and so is the second of two signatures', () => {
  const post = { secret: SECRET, header: signature, body: BODY, nowSeconds: T };
  assert.equal(verifySignature({ ...post, nowSeconds: T + 300 }), true);
  assert.equal(verifySignature({ ...post, nowSeconds: T - 300 }), true);
  assert.equal(verifySignature({ ...post, header: `t=${T}, v1=${'0'.repeat(64)}, ${v1}` }), true);
});

test('a secret is whsec_ and 32 random bytes in base64', () => {
  const secret = newSecret();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(secret, newSecret());
});
