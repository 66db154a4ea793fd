/** A certificate that this process trusts, for servers of tests that verified sessions connect to. */
import { generateKeyPairSync } from 'node:crypto';
import { setDefaultCACertificates } from 'node:tls';
import { issueSelfSigned } from '../../src/certificates/issue.ts';

/** Name in the certificate. */
export const TRUSTED_HOST = 'good.example';
const HOUR_MS = 3_600_000;

type KeyPair = { certificate: string; key: string };

let trusted: Promise<KeyPair> | undefined;

/**
 * Returns the certificate, which this process trusts from then on, and no other. The program takes the trusted authorities over at the
 * first session of each kind of TLS, so a process that runs several files calls this before the first.
 */
export function trustCertificate(): Promise<KeyPair> {
  trusted ??= issueTrusted();
  return trusted;
}

async function issueTrusted(): Promise<KeyPair> {
  const pair = await issue();
  setDefaultCACertificates([pair.certificate]);
  return pair;
}

async function issue(): Promise<KeyPair> {
  const now = Date.now();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const validity = { validFrom: now - HOUR_MS, expiresAt: now + HOUR_MS };
  const subject = { hostname: TRUSTED_HOST, privateKey, algorithm: 'ECDSA' } as const;
  const certificate = await issueSelfSigned({ ...subject, ...validity });
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
