/** An IMAP server with memory sessions on loopback, and a client that sends bytes and reads responses. */
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { constants, createDeflateRaw, createInflateRaw, type InflateRaw } from 'node:zlib';
import type { ImapServerOptions } from '../../../src/mail/imap/options.ts';
import { listenImap } from '../../../src/mail/imap/server.ts';
import type { OpenSession } from '../../../src/mail/imap/session.ts';
import type { Clock } from '../../../src/system/clock.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createMemoryMail, type MemoryMail, USER } from '../../support/memory-imap-session.ts';
import { recordLog } from '../../support/record-log.ts';

type ServedMail = Pick<MemoryMail, 'openSession'>;
type Options<Mail extends ServedMail> = Partial<Omit<ImapServerOptions, 'at' | 'section' | 'openSession'>> & {
  mail?: Mail;
  clock?: Clock;
};

/**
 * The function through which each server of these tests opens its sessions. Another file sets it, and runs the same tests with a port in
 * between.
 */
export const sessions = { through: (openSession: OpenSession): OpenSession => openSession };

export const LOGIN = `LOGIN ${USER.username} "${USER.password}"`;

/** Tells whether clients compress their connections after the login. Another file sets it, and runs the same tests. */
export const clients = { compress: false };

export type TestServer = Awaited<ReturnType<typeof startServer<MemoryMail>>>;

/** Starts a server whose clock stands still. */
export async function startServer<Mail extends ServedMail = MemoryMail>(
  t: Pick<TestContext, 'after'>,
  {
    // Callers that give no mail get the default, whose type is `ServedMail`.
    mail = createMemoryMail() as ServedMail as Mail,
    clock = createFakeClock(0),
    ...options
  }: Options<Mail> = {},
) {
  const { log, lines } = recordLog();
  const listener = await listenImap(
    { clock, log },
    {
      section: 'imap',
      at: { address: '127.0.0.1', port: 0 },
      hostname: 'mail.test',
      tls: undefined,
      openSession: sessions.through(mail.openSession),
      ...options,
    },
  );
  const port = Number(listener.address.split(':').at(-1));
  const opened = new Set<TestClient>();
  t.after(async () => {
    for (const client of opened) client.socket.destroy();
    await listener.close();
  });
  function dial(): TestClient {
    const client = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
    opened.add(client);
    return client;
  }

  return {
    port,
    mail,
    lines,
    listener,
    /** Connects without waiting for the greeting. */
    dial,
    /** Connects, logs in, and runs these commands. */
    async open(...commands: string[]): Promise<TestClient> {
      const client = dial();
      await client.line();
      for (const command of [LOGIN, ...commands]) {
        const completion = (await client.ask(command)).at(-1);
        if (!completion?.startsWith('OK')) throw new Error(`${command} was answered ${completion}`);
        if (command === LOGIN && clients.compress) await client.compress();
      }
      return client;
    },
  };
}

export type TestClient = {
  socket: Socket;
  send(bytes: string | Uint8Array): void;
  /** Returns the next response line without its CRLF, with the literals in it; `closed` at the end. */
  line(): Promise<string>;
  /** Sends a command with a new tag. Returns its responses without the tag; the last one completes it, or asks for more. */
  ask(command: string): Promise<string[]>;
  /** Returns responses up to the completion of the last command, or up to a continuation request. */
  responses(): Promise<string[]>;
  /** Returns everything up to the end of the connection. */
  rest(): Promise<string[]>;
  /** Begins compression, with a tag of its own. */
  compress(): Promise<void>;
};

/** Returns a client of this connection. Bytes are one character each (latin1). */
export function createClient(socket: Socket): TestClient {
  let input = '';
  let hasEnded = false;
  let tag = 0;
  let wake: (() => void) | undefined;
  const onInput = (text: string): void => {
    input += text;
    wake?.();
  };
  const onEnd = (): void => {
    hasEnded = true;
    wake?.();
  };
  let inflater: InflateRaw | undefined;
  socket.on('data', (chunk: Buffer) => {
    if (inflater) inflater.write(chunk);
    else onInput(chunk.toString('latin1'));
  });
  socket.on('end', () => {
    if (inflater) inflater.end();
    else onEnd();
  });
  socket.on('close', () => {
    if (!inflater) onEnd();
  });
  socket.on('error', onEnd);

  function takeLine(): string | undefined {
    let from = 0;
    for (;;) {
      const end = input.indexOf('\r\n', from);
      if (end < 0) return undefined;
      const literal = /\{(\d+)\}$/.exec(input.slice(from, end));
      from = end + 2 + Number(literal?.[1] ?? 0);
      if (literal) continue;
      const line = input.slice(0, end);
      input = input.slice(end + 2);
      return line;
    }
  }

  const client: TestClient = {
    socket,
    send: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    async line() {
      for (;;) {
        const line = takeLine();
        if (line !== undefined) return line;
        if (hasEnded) return 'closed';
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async ask(command) {
      client.send(`t${++tag} ${command}\r\n`);
      return await client.responses();
    },
    async responses() {
      const lines: string[] = [];
      for (;;) {
        const line = await client.line();
        const own = line.startsWith(`t${tag} `) ? line.slice(`t${tag} `.length) : line;
        lines.push(own);
        if (own !== line || line.startsWith('+') || line === 'closed') return lines;
      }
    },
    async rest() {
      const lines: string[] = [];
      for (let line = await client.line(); line !== 'closed'; line = await client.line()) lines.push(line);
      return lines;
    },
    async compress() {
      client.send('z COMPRESS DEFLATE\r\n');
      const completion = await client.line();
      if (completion !== 'z OK DEFLATE active') throw new Error(`COMPRESS was answered ${completion}`);
      inflater = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH });
      inflater.on('data', (chunk: Buffer) => onInput(chunk.toString('latin1')));
      inflater.on('close', onEnd);
      const deflater = createDeflateRaw();
      deflater.pipe(socket);
      client.send = (bytes) => {
        deflater.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
        deflater.flush(constants.Z_SYNC_FLUSH);
      };
    },
  };
  return client;
}
