/** The end of a connection at which a host speaks TLS, and the certificates of hosts. Handshakes are real; only their bytes travel in virtual time. */
import { generateKeyPairSync } from 'node:crypto';
import { Duplex } from 'node:stream';
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  setDefaultCACertificates,
} from 'node:tls';
import { issueSelfSigned } from '../../src/certificates/issue.ts';

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

export type Certificates = { valid: SecureContext; invalid: SecureContext; restore(): void };

const DAY_MS = 86_400_000;

/** Makes a certificate that this process trusts for the host, until `restore` is called, and one that it does not trust. */
export async function makeCertificates(host: string): Promise<Certificates> {
  const [valid, invalid] = await Promise.all([issue(host), issue(host)]);
  const before = getCACertificates();
  setDefaultCACertificates([valid.cert]);
  return {
    valid: createSecureContext(valid),
    invalid: createSecureContext(invalid),
    restore: () => setDefaultCACertificates(before),
  };
}

async function issue(hostname: string): Promise<{ cert: string; key: string }> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const validity = { validFrom: now - DAY_MS, expiresAt: now + DAY_MS };
  const cert = await issueSelfSigned({ hostname, privateKey, algorithm: 'ECDSA', ...validity });
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
