/** Servers that do and do not meet what REQUIRETLS asks of the next host (RFC 8689 section 4.2.1), on loopback. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import { issueSelfSigned } from '../../../src/certificates/issue.ts';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import { startServer, type TestServer } from '../../mail/smtp/server/fixture.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';

export type RequireTlsServers = {
  /** Offers REQUIRETLS, with a certificate for `GOOD_HOST` that the system trusts. */
  good: TestServer;
  /** Offers no STARTTLS. */
  plain: SmtpSink;
  /** Port of a server that offers STARTTLS with the same certificate, and knows nothing of REQUIRETLS. */
  withoutPort: number;
  close(): Promise<void>;
};

/** Name in the certificate. */
export const GOOD_HOST = 'good.example';
const HOUR_MS = 3_600_000;

let issued: ReturnType<typeof issue> | undefined;

/** The program takes the trusted authorities over at its first verified session, so all files of a process share a certificate. */
async function issue(): Promise<{ certificate: string; key: string }> {
  const now = Date.now();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const validity = { validFrom: now - HOUR_MS, expiresAt: now + HOUR_MS };
  const subject = { hostname: GOOD_HOST, privateKey, algorithm: 'ECDSA' } as const;
  const certificate = await issueSelfSigned({ ...subject, ...validity });
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Starts the servers. This process trusts their certificate until they are closed. */
export async function startRequireTlsServers(): Promise<RequireTlsServers> {
  const closers: (() => unknown)[] = [];
  issued ??= issue();
  const { certificate, key } = await issued;
  const trusted = getCACertificates();
  setDefaultCACertificates([certificate]);
  closers.push(() => setDefaultCACertificates(trusted));
  const certificates = createCertificateStore([{ chain: certificate, key }]);
  const context = { after: (close: () => unknown) => closers.push(close) };
  const good = await startServer(context as never, { tls: { mode: 'starttls', certificates } });
  const plain = await startSmtpSink();
  const without = new SMTPServer({ authOptional: true, key, cert: certificate, logger: false });
  without.on('error', () => {});
  const listener = without.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  closers.push(
    () => without.close(),
    () => plain.close(),
  );
  return {
    good,
    plain,
    withoutPort: (listener.address() as AddressInfo).port,
    async close() {
      for (const close of closers) await close();
    },
  };
}
