/** The end of a connection at which a host speaks TLS, and the certificates of hosts. Handshakes are real; only their bytes travel in virtual time. */
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { issueSelfSigned } from '../../src/certificates/issue.ts';
import { TRUSTED_HOST, trustCertificate } from '../support/trusted-certificate.ts';

type Send = (bytes: Buffer, onArrival?: () => void) => void;

export class TlsEnd extends Duplex {
  readonly #send: Send;
  /** Is called when the bytes that are written next have arrived. */
  onNextRecord: (() => void) | undefined;

  constructor(send: Send) {
    super();
    this.#send = send;
  }

  receive(bytes: Buffer): void {
    this.push(bytes);
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    const onArrival = this.onNextRecord;
    this.onNextRecord = undefined;
    this.#send(bytes, onArrival);
    done();
  }
}

export type Certificates = {
  valid: SecureContext;
  invalid: SecureContext;
  /** The TLSA record that only the invalid certificate matches, so that DANE and the authorities can be told apart (RFC 6698 section 2.1). */
  daneRecord: string;
};

const DAY_MS = 86_400_000;

/** Returns a certificate that this process trusts for its host, and one that it does not trust. */
export async function makeCertificates(): Promise<Certificates> {
  const [trusted, invalid] = await Promise.all([trustCertificate(), issue(TRUSTED_HOST)]);
  return {
    valid: createSecureContext({ cert: trusted.certificate, key: trusted.key }),
    invalid: createSecureContext(invalid),
    daneRecord: `3 1 1 ${createHash('sha256').update(publicKeyOf(invalid.cert)).digest('hex')}`,
  };
}

async function issue(hostname: string): Promise<{ cert: string; key: string }> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const validity = { validFrom: now - DAY_MS, expiresAt: now + DAY_MS };
  const cert = await issueSelfSigned({ hostname, privateKey, algorithm: 'ECDSA', ...validity });
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function publicKeyOf(certificate: string): Buffer {
  return new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
}
