/**
 * Signs the posts of webhooks and inbound routes, and verifies signatures as a receiver does (specification 6). The key is the
 * secret in the form that the customer sees, with `whsec_`.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { createLru } from '../../system/lru.ts';
import type { Sealer } from '../../system/seal.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Maximum difference between the timestamp and the receiver's clock (specification 6 step 2, and 8). */
const MAX_SKEW_SECONDS = 300;
/** Maximum number of signatures in a header. A rotation never makes more. */
const MAX_SIGNATURES = 8;

/** Returns a new random secret. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** A secret as the keys of both signatures. Making them costs more than signing. */
export type SigningKey = { text: KeyObject; bytes: KeyObject };

/** Returns the keys of a secret. */
export function signingKey(secret: string): SigningKey {
  return {
    text: createSecretKey(secret, 'utf8'),
    bytes: createSecretKey(secret.slice(SECRET_PREFIX.length), 'base64'),
  };
}

/** Maximum number of secrets whose keys are kept, which is more than there are open posts. */
const MAX_OPENED = 1_000;
/** Keys by the sealed secret and its context. A sealed text never stands for another secret. */
const opened = createLru<string, SigningKey>(MAX_OPENED);

/** Returns the keys of a sealed secret. Opening it costs more than signing, so its keys are kept. */
export function openKey(
  { sealer }: { sealer: Pick<Sealer, 'open'> },
  sealed: string,
  context: readonly string[],
): SigningKey {
  const name = [sealed, ...context].join(' ');
  const key = opened.get(name) ?? signingKey(sealer.open(sealed, context));
  opened.set(name, key);
  return key;
}

/**
 * Returns the signature header `t=<unix>,v1=<hex>`: HMAC-SHA256 over `<t>.<body>` (specification 6 step 3), with
 * another `v1=` for each further key.
 */
export function signPayload(
  keys: readonly SigningKey[],
  timestampSeconds: number,
  body: string | Uint8Array,
): string {
  const signatures = keys.map(({ text }) => `v1=${hmacHex(text, String(timestampSeconds), body)}`);
  return [`t=${timestampSeconds}`, ...signatures].join(',');
}

/**
 * Returns the signature of Standard Webhooks, for receivers that use one of its libraries: base64 of HMAC-SHA256 over
 * `<id>.<t>.<body>`, keyed with the decoded bytes of the secret. Several signatures are separated by spaces
 * (standardwebhooks.com, "Signature scheme" and "Multiple signatures").
 */
export function signStandard(
  keys: readonly SigningKey[],
  { id, timestampSeconds, body }: { id: string; timestampSeconds: number; body: string | Uint8Array },
): string {
  const sign = ({ bytes }: SigningKey) =>
    `v1,${createHmac('sha256', bytes).update(`${id}.${timestampSeconds}.`).update(body).digest('base64')}`;
  return keys.map(sign).join(' ');
}

type SignedPost = {
  secret: string;
  /** The signature header as received. */
  header: string;
  /** The body as received, before any parsing. */
  body: string;
  nowSeconds: number;
};

/**
 * Returns true when the signature is valid (specification 6 steps 1 to 4). Of several `v1=` values, one valid value
 * is enough.
 */
export function verifySignature({ secret, header, body, nowSeconds }: SignedPost): boolean {
  const fields = header.split(',').map((field) => field.trim());
  const t = fields.find((field) => field.startsWith('t='))?.slice(2);
  const candidates = fields.filter((field) => field.startsWith('v1=')).slice(0, MAX_SIGNATURES);
  if (t === undefined || !/^\d+$/.test(t) || candidates.length === 0) return false;
  if (Math.abs(nowSeconds - Number(t)) > MAX_SKEW_SECONDS) return false;
  const expected = Buffer.from(hmacHex(secret, t, body));
  return candidates.some((candidate) => equal(Buffer.from(candidate.slice(3)), expected));
}

function hmacHex(key: string | KeyObject, t: string, body: string | Uint8Array): string {
  return createHmac('sha256', key).update(`${t}.`).update(body).digest('hex');
}

function equal(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
