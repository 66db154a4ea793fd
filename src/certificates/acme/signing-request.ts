/**
 * Makes the request that an order ends with (PKCS #10). This module is imported only then, because its package takes 150 ms
 * to load.
 */
import { createPrivateKey } from 'node:crypto';
import { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';
import { importKeys } from '../issue.ts';

/** Returns a request for one name in DER as base64url, which is what an order takes (RFC 8555 section 7.4). */
export async function createSigningRequest(name: string, keyPem: string): Promise<string> {
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [],
    keys: await importKeys(createPrivateKey(keyPem), 'ECDSA'),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
  });
  return Buffer.from(request.rawData).toString('base64url');
}
