/**
 * A receiving mail server for tests. It accepts messages on 127.0.0.1, by default all, and records them. A message counts once its
 * final dot has arrived, even if the sender ended before it read the reply, so the records show lost and duplicate
 * messages.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export type SinkMessage = {
  /** Message-ID with its angle brackets; empty when the field is missing. */
  messageId: string;
  mailFrom: string;
  recipients: string[];
  /** The bytes of the message without dot-stuffing. Undefined unless `keepRaw` is set. */
  raw: Buffer | undefined;
  receivedAtMs: number;
};

export type SinkOptions = {
  /** Address to listen on, by default `127.0.0.1`. */
  host?: string;
  /** Port to listen on, by default any free port. */
  port?: number;
  /** Time between the final dot and the reply, by default 0. */
  replyDelayMs?: number;
  keepRaw?: boolean;
  /** Returns true for the envelope sender of a message whose recipients are refused for good. */
  refuses?: (mailFrom: string) => boolean;
  /** Offers STARTTLS with the publicly known certificate of the library. By default STARTTLS is not offered. */
  startTls?: boolean;
};

export type SmtpSink = AsyncDisposable & {
  host: string;
  port: number;
  /** Messages in the order in which their final dots arrived. */
  messages: SinkMessage[];
  /** Returns the number of connections that were opened so far. */
  connections(): number;
  /** Returns the number of connections that are open now. */
  openConnections(): number;
  close(): Promise<void>;
};

/** Maximum size of a message, which is larger than any message of a test. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 1_000;
const MESSAGE_ID = /^message-id:\s*(<[^>\r\n]*>)/im;

/** Starts a server without messages. */
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
    onRcptTo(_recipient, { envelope: { mailFrom } }, callback) {
      const isRefused = mailFrom !== false && options.refuses?.(mailFrom.address) === true;
      callback(isRefused ? Object.assign(new Error('5.1.1 No such user'), { responseCode: 550 }) : null);
    },
    onData(stream, session, callback) {
      const { envelope } = session;
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      // When the sender ends before the final dot, the stream is destroyed without 'end', and no message is recorded.
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
  // A client that is killed in the middle of a command causes an error, which concerns its connection alone.
  server.on('error', () => {});
  const listener = server.listen(options.port ?? 0, host);
  await once(listener, 'listening');
  const close = () => new Promise<void>((done) => server.close(() => done()));
  return {
    host,
    port: (listener.address() as AddressInfo).port,
    messages,
    connections: () => connections,
    openConnections: () => server.connections.size,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function headerOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n');
  return raw.subarray(0, end < 0 ? raw.length : end).toString('latin1');
}
