/** Relays for tests: a real SMTP server on loopback with TLS, logins and a certificate that this process trusts. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { trustCertificate } from '../support/trusted-certificate.ts';

export const USER = 'postrider';
export const PASSWORD = 'correct horse';

export type RelayServer = {
  port: number;
  /** Logins that clients tried, as `mechanism user password`. */
  logins: string[];
  /** Messages that were taken: whether the client was logged in, and the recipients. */
  messages: { user: string | undefined; recipients: string[] }[];
  /** Number of connections so far. */
  connections(): number;
  close(): Promise<void>;
};

type RelayOptions = {
  /** TLS from the first byte. By default the server offers STARTTLS. */
  isImplicit?: boolean;
  mechanisms?: readonly string[];
  /** By address of the recipient, the reply to its RCPT. */
  replies?: Readonly<Record<string, string>>;
};

/** Starts a relay whose certificate is for `TRUSTED_HOST`. This process trusts it. */
export async function startRelay({
  isImplicit = false,
  mechanisms = ['PLAIN', 'LOGIN'],
  replies = {},
}: RelayOptions = {}): Promise<RelayServer> {
  const { certificate, key } = await trustCertificate();
  const logins: string[] = [];
  const messages: RelayServer['messages'] = [];
  let connections = 0;
  const server = new SMTPServer({
    secure: isImplicit,
    key,
    cert: certificate,
    authMethods: [...mechanisms],
    disabledCommands: mechanisms.length === 0 ? ['AUTH'] : [],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onConnect(_session, callback) {
      connections += 1;
      callback();
    },
    onAuth({ method, username = '', password = '' }, _session, callback) {
      logins.push(`${method} ${username} ${password}`);
      const isRight = username === USER && password === PASSWORD;
      // A server that repeats what it was sent shows whether a password gets into the log.
      if (isRight) callback(null, { user: username });
      else callback(Object.assign(new Error(`5.7.8 ${password} is wrong`), { responseCode: 535 }));
    },
    onRcptTo({ address }, _session, callback) {
      const [code, ...text] = replies[address]?.split(' ') ?? [];
      if (code === undefined) callback();
      else callback(Object.assign(new Error(text.join(' ')), { responseCode: Number(code) }));
    },
    onData(stream, session, callback) {
      stream.resume();
      stream.once('end', () => {
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        messages.push({ user: session.user || undefined, recipients });
        callback();
      });
    },
  });
  server.on('error', () => {});
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    logins,
    messages,
    connections: () => connections,
    async close() {
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
