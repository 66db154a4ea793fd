/**
 * Verifies signatures (RFC 6376 section 6). The header is at hand; the body was hashed while it came in. A signature
 * that is not plainly good is never `pass`, and each other result has a reason.
 */
import { hash, verify } from 'node:crypto';
import type { DnsLookups } from '../../../system/dns.ts';
import type { BodyHashes } from './body-hashes.ts';
import { type FieldsByName, fieldValue, type HeaderField, signedHeader } from './header-fields.ts';
import { type FoundKey, findKey, type KeyParser } from './keys.ts';
import { parseSignature, type Signature } from './signature.ts';

/** The result of one signature (RFC 8601 section 2.7.1). */
export type SignatureOutcome = {
  result: 'pass' | 'fail' | 'neutral' | 'policy' | 'temperror' | 'permerror';
  /** Domain that signed, in lower case; empty when the signature names none that is valid. */
  domain: string;
  selector: string;
  algorithm: string;
  /** Why the result is not `pass`. */
  reason: string;
};

/** The message whose signatures are verified, and the means to find their keys. */
export type SignedMessage = {
  fields: FieldsByName;
  bodyHashes: BodyHashes;
  dns: Pick<DnsLookups, 'txt'>;
  parseKey: KeyParser;
  /** Time at which signatures may have expired, in Unix milliseconds. */
  now: number;
};

type Evaluation = Pick<SignatureOutcome, 'result' | 'reason'>;

/** Verifies the signature of a field. It never rejects. */
export async function verifySignature(
  field: HeaderField,
  message: SignedMessage,
  kind: 'dkim' | 'arc' = 'dkim',
): Promise<SignatureOutcome> {
  const signature = parseSignature(fieldValue(field), kind);
  const { domain, selector, algorithm } = signature;
  if (signature.kind === 'unusable') {
    const { result, reason } = signature;
    return { result, domain, selector, algorithm, reason };
  }
  const evaluation =
    evaluateTime(signature, message.now) ??
    evaluateBody(signature, message.bodyHashes) ??
    evaluateKey(signature, await findKey(message.dns, message.parseKey, signature), () =>
      signedHeader(message.fields, signature, field),
    );
  return { ...evaluation, domain, selector, algorithm };
}

function evaluateTime({ expiresAt }: Signature, now: number): Evaluation | undefined {
  const hasExpired = expiresAt !== undefined && expiresAt * 1_000 < now;
  return hasExpired ? { result: 'policy', reason: 'the signature has expired' } : undefined;
}

/**
 * Compares the hash of the body. Text that was added behind the signed part (`l=`) would be shown like the rest, so such a
 * signature does not count; one whose `l=` is the length of the body is like any other.
 */
function evaluateBody(signature: Signature, bodyHashes: BodyHashes): Evaluation | undefined {
  const body = bodyHashes[signature.bodyCanonicalization];
  if (!body) return { result: 'neutral', reason: 'the body was not hashed' };
  const { bodyLength = body.bytes } = signature;
  // The length must not be larger than the body (RFC 6376 section 3.5).
  if (bodyLength > body.bytes) return { result: 'permerror', reason: 'l= is larger than the body' };
  if (bodyLength < body.bytes) return { result: 'policy', reason: 'a part of the body is not signed' };
  return body.hash === signature.bodyHash
    ? undefined
    : { result: 'fail', reason: 'the body has been changed' };
}

function evaluateKey(signature: Signature, found: FoundKey, readHeader: () => Buffer): Evaluation {
  if (found.kind === 'failed') return { result: 'temperror', reason: found.reason };
  if (found.kind === 'unusable') return { result: found.result, reason: found.reason };
  if (signature.algorithm !== `${found.type}-sha256`)
    return { result: 'permerror', reason: 'the key is for another algorithm' };
  // With t=s the identity must not be below the domain that signed (RFC 6376 section 3.6.1).
  if (found.isStrict && signature.identityDomain !== signature.domain)
    return { result: 'permerror', reason: 'the identity is below the domain of the key' };
  if (isSignatureOf(signature, found.key, readHeader())) return { result: 'pass', reason: '' };
  return { result: 'fail', reason: found.isTesting ? 'bad signature of a test' : 'bad signature' };
}

function isSignatureOf(
  { algorithm, signature }: Signature,
  key: Parameters<typeof verify>[2],
  header: Buffer,
): boolean {
  switch (algorithm) {
    case 'rsa-sha256':
      return verify('sha256', header, key, signature);
    case 'ed25519-sha256':
      // The hash of the header is signed, not the header itself (RFC 8463 section 3).
      return verify(null, hash('sha256', header, 'buffer'), key, signature);
  }
}
