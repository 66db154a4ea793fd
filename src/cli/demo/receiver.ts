/** The demo's receiving mail server: a real one, on 127.0.0.1, that keeps what it is given. */
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { type Arrivals, createArrivals } from './arrivals.ts';
import type { Certificate } from './certificate.ts';

export type ReceivedMail = {
  /** Of MAIL FROM; empty for a bounce. */
  mailFrom: string;
  recipients: string[];
  /** What the sender called itself in EHLO. */
  heloName: string;
  /** Undefined when the message came in clear. */
  tlsVersion: string | undefined;
  raw: Buffer;
};

export type Receiver = { port: number; mail: Arrivals<ReceivedMail>; close(): Promise<void> };

/** security.md: no peer may send without end. Far above what the demo sends. */
const MAX_MESSAGE_BYTES = 30 * 1024 * 1024;

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
  server.on('error', () => {}); // A peer that goes away; the sender tries again.
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
