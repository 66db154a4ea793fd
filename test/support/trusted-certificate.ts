/** A certificate that this process trusts, for servers of tests that verified sessions connect to. */
import { generateKeyPairSync } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { issueSelfSigned } from '../../src/certificates/issue.ts';

/** Name in the certificate. */
export const TRUSTED_HOST = 'good.example';
const HOUR_MS = 3_600_000;

type KeyPair = { certificate: string; key: string };

let issued: Promise<KeyPair> | undefined;

/**
 * Returns the certificate, which is trusted until `restore` is called. The program takes the trusted authorities over at its first
 * verified session, so all files of a process share a certificate.
 */
export async function trustCertificate(): Promise<KeyPair & { restore(): void }> {
  issued ??= issue();
  const pair = await issued;
  const trusted = getCACertificates();
  setDefaultCACertificates([pair.certificate]);
  return { ...pair, restore: () => setDefaultCACertificates(trusted) };
}

async function issue(): Promise<KeyPair> {
  const now = Date.now();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const validity = { validFrom: now - HOUR_MS, expiresAt: now + HOUR_MS };
  const subject = { hostname: TRUSTED_HOST, privateKey, algorithm: 'ECDSA' } as const;
  const certificate = await issueSelfSigned({ ...subject, ...validity });
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
