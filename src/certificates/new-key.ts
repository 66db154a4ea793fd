/** Generates the keys of self-signed certificates. */
import { generateKeyPair } from 'node:crypto';

/** An RSA key of 2,048 bits is what every client accepts. */
const RSA_MODULUS_BITS = 2048;
const ENCODING = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const;

/** Returns a new private key as PKCS #8 in PEM: on the curve P-256, or RSA. */
export function generateCertificateKey(type: 'ec' | 'rsa'): Promise<string> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, _publicKey: string, privateKey: string) =>
      error ? reject(error) : resolve(privateKey);
    if (type === 'ec') generateKeyPair('ec', { namedCurve: 'P-256', ...ENCODING }, done);
    else generateKeyPair('rsa', { modulusLength: RSA_MODULUS_BITS, ...ENCODING }, done);
  });
}
