/** Servers that do and do not meet what REQUIRETLS asks of the next host (RFC 8689 section 4.2.1), on loopback. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import { startServer, type TestServer } from '../../mail/smtp/server/fixture.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { TRUSTED_HOST, trustCertificate } from '../../support/trusted-certificate.ts';

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
export const GOOD_HOST = TRUSTED_HOST;

/** Starts the servers, whose certificate this process trusts. */
export async function startRequireTlsServers(): Promise<RequireTlsServers> {
  const closers: (() => unknown)[] = [];
  const { certificate, key } = await trustCertificate();
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
