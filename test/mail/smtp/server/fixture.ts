/** An SMTP server with memory sessions on loopback, and a client that sends bytes and reads replies. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { SmtpServerOptions } from '../../../../src/mail/smtp/server/options.ts';
import { listenSmtp } from '../../../../src/mail/smtp/server/server.ts';
import type { Session } from '../../../../src/mail/smtp/server/session.ts';
import { createCertificateStore } from '../../../../src/system/certificates.ts';
import type { Clock } from '../../../../src/system/clock.ts';
import { createMetrics } from '../../../../src/system/metrics.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { createMemorySessions } from '../../../support/memory-smtp-session.ts';
import { recordLog } from '../../../support/record-log.ts';
import { EC_PAIR } from '../../../system/certificate-pairs.ts';

type Options = Partial<Omit<SmtpServerOptions, 'openSession' | 'at' | 'section'>> & {
  hooks?: Partial<Session>;
  clock?: Clock;
};

export const STARTTLS = { mode: 'starttls', certificates: createCertificateStore([EC_PAIR]) } as const;

/** Commands up to the message, for one recipient. */
export const ENVELOPE = 'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@test.example>\r\n';

export type TestServer = Awaited<ReturnType<typeof startServer>>;

/** Starts a server whose clock stands still. */
export async function startServer(
  t: TestContext,
  { hooks, clock = createFakeClock(0), ...options }: Options = {},
) {
  const sessions = createMemorySessions(hooks);
  const { log, lines } = recordLog();
  const metrics = createMetrics(clock);
  const listener = await listenSmtp(
    { clock, log, metrics },
    {
      section: 'smtp',
      at: { address: '127.0.0.1', port: 0 },
      hostname: 'mx.test',
      protocol: 'smtp',
      tls: undefined,
      openSession: sessions.openSession,
      ...options,
    },
  );
  const port = Number(listener.address.split(':').at(-1));
  const clients = new Set<TestClient>();
  t.after(async () => {
    for (const client of clients) client.socket.destroy();
    await listener.close();
  });
  /** Connects without waiting for the banner. */
  function dial(localAddress = '127.0.0.1'): TestClient {
    const client = createClient(connect({ host: '127.0.0.1', port, localAddress, noDelay: true }));
    clients.add(client);
    return client;
  }
  return {
    port,
    sessions,
    lines,
    listener,
    metrics: async () => (await metrics.show()).text,
    dial,
    /** Connects, and reads the banner. */
    async greeted(): Promise<TestClient> {
      const client = dial();
      await client.reply();
      return client;
    },
  };
}

export type TestClient = {
  socket: Socket;
  /** Text of each read. */
  packets: string[];
  send(bytes: string | Uint8Array): void;
  /** Returns the next reply with its line ends, or `closed`. */
  reply(): Promise<string>;
  /** Sends these bytes and returns the next reply. */
  ask(bytes: string | Uint8Array): Promise<string>;
  /** Returns the codes of everything up to the end of the connection. */
  rest(): Promise<string[]>;
  /** Begins TLS on this connection. */
  encrypt(options?: Pick<ConnectionOptions, 'maxVersion' | 'session'>): Promise<TestClient>;
};

/** Wraps a socket of an SMTP client. */
export function createClient(socket: Socket): TestClient {
  let input = '';
  let isClosed = false;
  let wake = () => {};
  const packets: string[] = [];
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    packets.push(chunk.toString());
    input += chunk.toString();
    wake();
  });
  const close = () => {
    isClosed = true;
    wake();
  };
  socket.on('end', close).on('close', close);

  async function reply(): Promise<string> {
    for (;;) {
      const match = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(input);
      if (match) {
        input = input.slice(match[0].length);
        return match[0];
      }
      if (isClosed) return input === '' ? 'closed' : `closed after ${JSON.stringify(input)}`;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    socket,
    packets,
    send(bytes: string | Uint8Array): void {
      if (!socket.destroyed) socket.write(bytes);
    },
    reply,
    ask(bytes: string | Uint8Array): Promise<string> {
      if (!socket.destroyed) socket.write(bytes);
      return reply();
    },
    async rest(): Promise<string[]> {
      const codes: string[] = [];
      for (let next = await reply(); ; next = await reply()) {
        codes.push(next.startsWith('closed') ? next : next.slice(0, 3));
        if (next.startsWith('closed')) return codes;
      }
    },
    encrypt(options = {}): Promise<TestClient> {
      socket.removeAllListeners('data').removeAllListeners('end');
      return new Promise((resolve, reject) => {
        const fail = () => reject(new Error('the connection is closed'));
        // TLS reports nothing on a connection that has already ended.
        if (socket.destroyed || isClosed) return fail();
        socket.once('close', fail);
        const asked = { ...options, socket, servername: 'mx.test', rejectUnauthorized: false };
        const secure = connectTls(asked, () => resolve(createClient(secure)));
        secure.once('error', reject).once('close', fail);
      });
    },
  };
}

/** Reads the banner and greets the server. Returns the client. */
export async function greet(client: TestClient): Promise<TestClient> {
  assert.match(await client.reply(), /^220 /);
  assert.match(await client.ask('EHLO client.example\r\n'), /^250/);
  return client;
}

/** Reads replies, which must begin with these texts. */
export async function expect(client: TestClient, ...starts: readonly string[]): Promise<void> {
  for (const start of starts) {
    const reply = await client.reply();
    assert.ok(reply.startsWith(start), `${reply} does not begin with ${start}`);
  }
}
