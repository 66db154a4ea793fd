/** Certificates of an authority of a test, and of servers that it has certified. */
import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import {
  BasicConstraintsExtension,
  Extension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { importKeys } from '../../src/certificates/issue.ts';

export type Issued = {
  certificate: X509Certificate;
  /** PEM. */
  key: string;
  /** PEM of the certificate. */
  pem: string;
};

const HOUR_MS = 3_600_000;
const ECDSA = { name: 'ECDSA', hash: 'SHA-256' };

/** NameConstraints in DER with one permitted subtree, the DNS name `example` (RFC 5280 section 4.2.1.10). */
const ONLY_BELOW_EXAMPLE = Buffer.from(`300da00b30098207${Buffer.from('example').toString('hex')}`, 'hex');

type Subject = {
  /** DNS name in the certificate; absent for an authority. */
  name?: string;
  /** Further DNS names. */
  otherNames?: readonly string[];
  /** Issuer; absent for a certificate that is signed by its own key. */
  issuer?: Issued;
  isAuthority?: boolean;
  /** Set for an authority that may certify names below `example` alone; `true` for a critical extension. */
  constraint?: boolean;
  validFrom?: number;
  expiresAt?: number;
};

/** Issues a certificate with a new key. */
export async function issueCertificate({
  name = 'authority',
  otherNames = [],
  issuer,
  isAuthority = false,
  constraint,
  validFrom = Date.now() - HOUR_MS,
  expiresAt = Date.now() + HOUR_MS,
}: Subject): Promise<Issued> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = await importKeys(privateKey, 'ECDSA');
  const names = [name, ...otherNames].map((value) => ({ type: 'dns', value }) as const);
  const extensions = [
    new BasicConstraintsExtension(isAuthority, undefined, true),
    ...(constraint === undefined ? [] : [new Extension('2.5.29.30', constraint, ONLY_BELOW_EXAMPLE)]),
    ...(isAuthority ? [] : [new SubjectAlternativeNameExtension(names)]),
  ];
  const common = {
    serialNumber: `40${randomBytes(15).toString('hex')}`,
    notBefore: new Date(validFrom),
    notAfter: new Date(expiresAt),
    signingAlgorithm: ECDSA,
    extensions,
  };
  const issued = issuer
    ? await X509CertificateGenerator.create({
        ...common,
        subject: `CN=${name}`,
        issuer: issuer.certificate.subject,
        publicKey: keys.publicKey,
        signingKey: (await importKeys(createPrivateKey(issuer.key), 'ECDSA')).privateKey,
      })
    : await X509CertificateGenerator.createSelfSigned({ ...common, name: `CN=${name}`, keys });
  const pem = `${issued.toString('pem')}\n`;
  return { certificate: new X509Certificate(pem), pem, key: pemOf(privateKey) };
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
