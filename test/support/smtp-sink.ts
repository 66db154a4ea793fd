/**
 * The mail server at the far end of a test: takes every message on 127.0.0.1 and remembers what it took. A message
 * counts once its final dot has arrived, whether or not the sender lived to read the reply, so the sink can judge
 * both loss and duplicates.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export type SinkMessage = {
  /** With its angle brackets; empty when the header is missing. */
  messageId: string;
  mailFrom: string;
  recipients: string[];
  /** Exactly as it came, without dot-stuffing. Kept only when asked for. */
  raw: Buffer | undefined;
  receivedAtMs: number;
};

export type SinkOptions = {
  /** Default `127.0.0.1`. */
  host?: string;
  /** Default: any free port. */
  port?: number;
  /** Time between the final dot and the reply. Default 0. */
  replyDelayMs?: number;
  keepRaw?: boolean;
  /** Offers STARTTLS with the library's own, publicly known certificate. Default false. */
  startTls?: boolean;
};

export type SmtpSink = {
  host: string;
  port: number;
  /** In the order their dots arrived. */
  messages: SinkMessage[];
  /** Connections opened so far. */
  connections(): number;
  /** Connections open now. */
  openConnections(): number;
  close(): Promise<void>;
};

/** More than the largest message of any test. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 1_000;
const MESSAGE_ID = /^message-id:\s*(<[^>\r\n]*>)/im;

export async function startSmtpSink(options: SinkOptions = {}): Promise<SmtpSink> {
  const host = options.host ?? '127.0.0.1';
  const messages: SinkMessage[] = [];
  let connections = 0;
  const server = new SMTPServer({
    name: 'sink.test',
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: options.startTls === true ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    logger: false,
    size: MAX_MESSAGE_BYTES,
    closeTimeout: CLOSE_TIMEOUT_MS,
    onConnect(_session, callback) {
      connections += 1;
      callback();
    },
    onData(stream, session, callback) {
      const { envelope } = session;
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      // A sender that dies before the dot has the stream destroyed: no 'end', no message.
      stream.once('error', () => {});
      stream.once('end', () => {
        const raw = Buffer.concat(parts);
        messages.push({
          messageId: MESSAGE_ID.exec(headerOf(raw))?.[1] ?? '',
          mailFrom: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          recipients: envelope.rcptTo.map((recipient) => recipient.address),
          raw: options.keepRaw === true ? raw : undefined,
          receivedAtMs: Date.now(),
        });
        setTimeout(callback, options.replyDelayMs ?? 0, null, 'accepted').unref();
      });
    },
  });
  // Errors of single connections: a peer killed in the middle of a command.
  server.on('error', () => {});
  const listener = server.listen(options.port ?? 0, host);
  await once(listener, 'listening');
  return {
    host,
    port: (listener.address() as AddressInfo).port,
    messages,
    connections: () => connections,
    openConnections: () => server.connections.size,
    close: () => new Promise((done) => server.close(() => done())),
  };
}

function headerOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n');
  return raw.subarray(0, end < 0 ? raw.length : end).toString('latin1');
}
