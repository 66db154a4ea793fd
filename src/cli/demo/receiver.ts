/** The receiving mail server of the demo: a real SMTP server on 127.0.0.1 that stores the mail in memory. */
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { type Arrivals, createArrivals } from './arrivals.ts';
import type { Certificate } from './certificate.ts';

export type ReceivedMail = {
  /** Address in MAIL FROM; empty for a bounce. */
  mailFrom: string;
  recipients: string[];
  /** Host name that the sender used in EHLO. */
  heloName: string;
  /** TLS version; undefined when the message arrived in plaintext. */
  tlsVersion: string | undefined;
  raw: Buffer;
};

export type Receiver = { port: number; mail: Arrivals<ReceivedMail>; close(): Promise<void> };

/** Maximum size of a message, far above what the demo sends. No peer may send without limit. */
const MAX_MESSAGE_BYTES = 30 * 1024 * 1024;

/** Starts the server on a free port. */
export async function startReceiver(
  hostname: string,
  certificate: Certificate | undefined,
): Promise<Receiver> {
  const mail = createArrivals<ReceivedMail>();
  const server = new SMTPServer({
    name: hostname,
    size: MAX_MESSAGE_BYTES,
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: certificate ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...certificate,
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mail.add({
          mailFrom: mailFrom ? mailFrom.address : '',
          recipients: rcptTo.map(({ address }) => address),
          heloName: String(session.hostNameAppearsAs || ''),
          tlsVersion: session.tlsOptions ? session.tlsOptions.version : undefined,
          raw: Buffer.concat(parts),
        });
        done(null, 'received');
      });
    },
  });
  // An error means that a peer has disconnected. Its sender retries.
  server.on('error', () => {});
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (typeof address !== 'object' || address === null) throw new Error('the mail server has no port');
  return {
    port: address.port,
    mail,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
