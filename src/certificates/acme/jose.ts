/** Signs requests to an authority: JSON Web Signatures in the form that ACME asks for (RFC 8555 section 6.2). */
import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

/** The public part of a key on the curve P-256. Its members are in the order of a thumbprint (RFC 7638 section 3.2). */
type PublicJwk = { crv: string; kty: string; x: string; y: string };

/** The key of an account. */
export type AccountKey = { privateKey: KeyObject; jwk: PublicJwk };

/** A JWS in its flattened JSON form (RFC 7515 section 7.2.2). */
type Jws = { protected: string; payload: string; signature: string };

/** Identifies the signer: by the URL of the account, or by the key itself before there is an account. */
type Signer = { kid: string } | { jwk: PublicJwk };

/** Returns the key in this PEM, which `generateCertificateKey` has made. */
export function readAccountKey(pem: string): AccountKey {
  const privateKey = createPrivateKey(pem);
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, jwk: { crv, kty, x, y } };
}

/** Returns the text that proves that a challenge was read by the holder of the account (RFC 8555 section 8.1). */
export function keyAuthorizationOf(token: string, { jwk }: AccountKey): string {
  return `${token}.${createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')}`;
}

/** Signs a request. Without a payload it is a POST-as-GET (RFC 8555 section 6.3). */
export function signRequest(
  { privateKey }: AccountKey,
  { payload, ...header }: { url: string; nonce: string; payload: unknown } & Signer,
): Jws {
  return jws({ alg: 'ES256', ...header }, payload === undefined ? '' : encode(payload), (input) =>
    // JWS has the two numbers of the signature one after the other (RFC 7518 section 3.4).
    sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  );
}

/** An account that the operator has with the authority outside ACME. `hmacKey` is in base64url, as authorities show it. */
export type ExternalAccount = { keyId: string; hmacKey: string };

/** Binds a new account to an external one (RFC 8555 section 7.3.4). */
export function bindExternalAccount(
  { keyId, hmacKey }: ExternalAccount,
  { url, key }: { url: string; key: AccountKey },
): Jws {
  const secret = Buffer.from(hmacKey, 'base64url');
  return jws({ alg: 'HS256', kid: keyId, url }, encode(key.jwk), (input) =>
    createHmac('sha256', secret).update(input).digest(),
  );
}

function jws(header: object, payload: string, signInput: (input: Buffer) => Buffer): Jws {
  const protectedHeader = encode(header);
  const signature = signInput(Buffer.from(`${protectedHeader}.${payload}`)).toString('base64url');
  return { protected: protectedHeader, payload, signature };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
