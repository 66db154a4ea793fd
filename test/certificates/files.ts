/** Certificates in files, as a program that renews them writes them. */
import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateFiles } from '../../src/certificates/certificate.ts';
import { issueSelfSigned } from '../../src/certificates/issue.ts';
import type { CertificatePair } from '../../src/system/certificates.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';

/** A moment at which the pairs of `test/system` are valid. */
export const NOW = Date.UTC(2030, 0, 1);

/** A certificate with a common name alone, which no client looks at. */
export const NAMELESS: CertificatePair = {
  key: EC_PAIR.key,
  chain: `-----BEGIN CERTIFICATE-----
MIIBgjCCASegAwIBAgIULhWRpVtcqsPMCM7elQZhi/jac6UwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKbXguZXhhbXBsZTAgFw0yNjExMjQxNTIwMjRaGA8yMTI2MTAz
MTE1MjAyNFowFTETMBEGA1UEAwwKbXguZXhhbXBsZTBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABIYBeFXkbydTICLQGEZPA+eoP3+6Hz/EGAgk2+zc3dNh0XgeBSci
VQP8ZjA46T2f5Hpz51cZ23PoApw/aZURgO2jUzBRMB0GA1UdDgQWBBT4vi+6LzZm
KlyDzid/XNFbBjYIZTAfBgNVHSMEGDAWgBT4vi+6LzZmKlyDzid/XNFbBjYIZTAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCUsTK6AjIoqQElUFg/
FNoFyZWTJsqCrolQijUCHihF/wIhAIQNMMPpJti+x/VRyJCknMH8NOBc77S46us1
b4a2oU4J
-----END CERTIFICATE-----`,
};

/** Returns a certificate for `mx.example` with the key of EC_PAIR. */
export async function renewed(expiresAt: number): Promise<CertificatePair> {
  const chain = await issueSelfSigned({
    hostname: 'mx.example',
    privateKey: createPrivateKey(EC_PAIR.key),
    algorithm: 'ECDSA',
    validFrom: expiresAt - 90 * DAY_MS,
    expiresAt,
  });
  return { chain, key: EC_PAIR.key };
}

/** Writes a pair into `chain.pem` and `key.pem` of this folder. */
export function writePair(folder: string, { chain, key }: CertificatePair): CertificateFiles {
  const files = { certificate: join(folder, 'chain.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.certificate, chain);
  writeFileSync(files.key, key);
  return files;
}
