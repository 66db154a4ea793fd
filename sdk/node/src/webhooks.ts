import { invalidArgument, PostriderError } from './errors.ts';
import type { WebhookEvent } from './types.ts';

/** Name of the header that has the signature. */
export const SIGNATURE_HEADER = 'X-Service-Signature';
/** Seconds by which the time of a signature may differ from the clock. */
export const DEFAULT_TOLERANCE = 300;

/** Body of a post as it arrived. A string is taken for UTF-8. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/**
 * Returns the event of a post when its signature is right, and throws an error of the type `invalid_signature` otherwise.
 * Nothing is parsed before. It serves posts to inbound routes too: `verify<InboundMessage>(…)`.
 *
 * @param body The body as it arrived, before a framework has parsed it.
 * @param header Value of `X-Service-Signature`.
 * @param secret Secret of the endpoint.
 * @param tolerance Seconds by which the time of the signature may differ from the clock.
 */
export async function verify<T = WebhookEvent>(
  body: RawBody,
  header: string | null | undefined,
  secret: string,
  tolerance: number = DEFAULT_TOLERANCE,
): Promise<T> {
  const bytes = bytesOf(body);
  const parts = (header ?? '').split(',').map((part) => part.trim());
  const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3));
  if (!/^\d{1,15}$/.test(time) || signatures.length === 0)
    throw invalidSignature('The signature header has no time or no signature.');
  // The time of a signature has no fraction: whole seconds are compared.
  if (!(Math.abs(Math.floor(Date.now() / 1000) - Number(time)) <= tolerance))
    throw invalidSignature('The time of the signature is too far from the clock.');
  const key = await importKey(secret, 'verify');
  const signed = signedBytes(time, bytes);
  const results = await Promise.all(
    signatures.map((hex) => {
      const signature = parseHex(hex);
      // WebCrypto compares in constant time.
      return signature !== undefined && crypto.subtle.verify('HMAC', key, signature, signed);
    }),
  );
  if (!results.includes(true)) throw invalidSignature('No signature is right.');
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as T;
  } catch (cause) {
    throw invalidSignature('The signature is right, but the body is not JSON.', cause);
  }
}

/**
 * Returns the signature header of a body, for tests of a receiver.
 *
 * @param time Unix seconds; by default the present time.
 */
export async function sign(body: RawBody, secret: string, time?: number): Promise<string> {
  const seconds = String(Math.floor(time ?? Date.now() / 1000));
  const key = await importKey(secret, 'sign');
  const signature = await crypto.subtle.sign('HMAC', key, signedBytes(seconds, bytesOf(body)));
  const hex = Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0'));
  return `t=${seconds},v1=${hex.join('')}`;
}

function signedBytes(time: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${time}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  return signed;
}

function importKey(secret: string, use: 'sign' | 'verify'): Promise<CryptoKey> {
  if (typeof secret !== 'string' || secret === '')
    throw (use === 'verify' ? invalidSignature : invalidArgument)('The secret is empty, or no string.');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, [use]);
}

function bytesOf(body: RawBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw invalidArgument('The body has to be the bytes or the text that arrived, not a parsed value.');
}

function parseHex(hex: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[0-9a-f]{64}$/.test(hex)) return undefined;
  return Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}

function invalidSignature(message: string, cause?: unknown): PostriderError {
  return new PostriderError({ type: 'invalid_signature', message, cause });
}
