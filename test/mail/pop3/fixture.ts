/** A POP3 server with memory sessions on loopback, and a client that sends lines and reads responses. */
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { Pop3ServerOptions } from '../../../src/mail/pop3/options.ts';
import { listenPop3 } from '../../../src/mail/pop3/server.ts';
import type { OpenSession } from '../../../src/mail/pop3/session.ts';
import type { Clock } from '../../../src/system/clock.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createMemoryMaildrop, type MemoryMaildrop, USER } from '../../support/memory-pop3-session.ts';
import { recordLog } from '../../support/record-log.ts';

type Options = Partial<Omit<Pop3ServerOptions, 'at' | 'section' | 'openSession'>> & {
  drop?: MemoryMaildrop;
  openSession?: OpenSession;
  clock?: Clock;
};

export const LOGIN = [`USER ${USER.username}`, `PASS ${USER.password}`] as const;

/** Starts a server whose clock stands still. */
export async function startServer(
  t: Pick<TestContext, 'after'>,
  { drop = createMemoryMaildrop(), clock = createFakeClock(0), openSession, ...options }: Options = {},
) {
  const { log, lines } = recordLog();
  const user = { clock, log, limits: options.limits };
  const listener = await listenPop3(
    { clock, log },
    {
      ...{ section: 'pop3', at: { address: '127.0.0.1', port: 0 }, hostname: 'mail.test', tls: undefined },
      ...{ implementation: 'Test', openSession: openSession ?? (() => drop.openSession(user)) },
      ...options,
    },
  );
  const port = Number(listener.address.split(':').at(-1));
  const opened = new Set<Pop3Client>();
  t.after(async () => {
    for (const client of opened) client.socket.destroy();
    await listener.close();
  });
  /** Connects without waiting for the greeting. */
  function dial(): Pop3Client {
    const client = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
    opened.add(client);
    return client;
  }
  /** Connects, and reads the greeting. */
  async function greeted(): Promise<Pop3Client> {
    const client = dial();
    await client.line();
    return client;
  }
  /** Connects and logs in. */
  async function open(): Promise<Pop3Client> {
    const client = await greeted();
    for (const command of LOGIN) {
      const answer = await client.ask(command);
      if (!answer.startsWith('+OK')) throw new Error(`${command} was answered ${answer}`);
    }
    return client;
  }
  return { port, drop, lines, listener, dial, greeted, open };
}

export type Pop3Client = ReturnType<typeof createClient>;

/** Returns a client of this connection. Octets are one character each (latin1). */
export function createClient(socket: Socket) {
  let input = '';
  let hasEnded = false;
  let wake: (() => void) | undefined;
  const onEnd = (): void => {
    hasEnded = true;
    wake?.();
  };
  socket.on('data', (chunk: Buffer) => {
    input += chunk.toString('latin1');
    wake?.();
  });
  for (const event of ['end', 'close', 'error']) socket.on(event, onEnd);
  /** Returns what comes before a text, and takes it with the text; undefined when the connection ends before. */
  async function until(text: string): Promise<string | undefined> {
    for (;;) {
      const end = input.indexOf(text);
      if (end >= 0) {
        const found = input.slice(0, end);
        input = input.slice(end + text.length);
        return found;
      }
      if (hasEnded) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const send = (bytes: string | Uint8Array): void => {
    socket.write(bytes);
  };
  /** Returns the next line without its CRLF; `closed` at the end. */
  const line = async (): Promise<string> => (await until('\r\n')) ?? 'closed';
  return {
    socket,
    send,
    line,
    /** Sends a command. Returns the first line of its response. */
    async ask(command: string): Promise<string> {
      send(`${command}\r\n`);
      return await line();
    },
    /** Sends a command with a multi-line response. Returns the first line, and the others as they stand on the wire, without the dot. */
    async askLong(command: string): Promise<string[]> {
      send(`${command}\r\n`);
      return await this.long();
    },
    /** Returns the next response, which has several lines unless it refuses. */
    async long(): Promise<string[]> {
      const first = await line();
      if (!first.startsWith('+OK')) return [first];
      const lines = [first];
      for (let next = await line(); next !== '.'; next = await line()) {
        if (next === 'closed') return [...lines, next];
        lines.push(next);
      }
      return lines;
    },
    /** Returns everything up to the end of the connection. */
    async rest(): Promise<string[]> {
      const lines: string[] = [];
      for (let next = await line(); next !== 'closed'; next = await line()) lines.push(next);
      return lines;
    },
  };
}
