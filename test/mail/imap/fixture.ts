/** An IMAP server with an account on disk, on loopback, and a client that sends bytes and reads responses. */
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { constants, createDeflateRaw, createInflateRaw, type InflateRaw } from 'node:zlib';
import type { ImapServerOptions } from '../../../src/mail/imap/options.ts';
import { listenImap, serveImapUser } from '../../../src/mail/imap/server.ts';
import type { Account, Admission, ImapClient, Refusal, Session } from '../../../src/mail/imap/session.ts';
import type { PasswordCredentials } from '../../../src/mail/sasl/exchange.ts';
import type { Clock } from '../../../src/system/clock.ts';
import { createPause } from '../../../src/system/slices.ts';
import { type AccountMail, createEmptyMail, USER } from '../../support/account-mail.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { type createHandovers, handOverTo } from '../../support/handovers.ts';
import { recordLog } from '../../support/record-log.ts';
import { createScramSession } from '../../support/scram-client.ts';

type ServedMail = { openAccount(): Account };
type Options<Mail extends ServedMail> = Partial<Omit<ImapServerOptions, 'at' | 'section'>> & {
  mail?: Mail;
  clock?: Clock;
  /** Port over which connections are handed over. All servers share one by default. */
  handovers?: ReturnType<typeof createHandovers>;
};

export const LOGIN = `LOGIN ${USER.username} "${USER.password}"`;

const WRONG: Refusal = { refused: 'NO', code: 'AUTHENTICATIONFAILED', text: 'The password is wrong' };

/** Returns what opens the sessions of a server for the user of this mail. */
export function createImapSessions(
  mail: ServedMail,
  context: Omit<Parameters<typeof serveImapUser>[0], 'pause' | 'owner'>,
  handovers: Pick<ReturnType<typeof createHandovers>, 'handOverTo'> = { handOverTo },
) {
  const sessions = {
    /** Number of sessions before their login. */
    open: 0,
    /** The client that has logged in last. */
    client: undefined as ImapClient | undefined,
    /** Users whose connections are served. */
    users: new Set<ReturnType<typeof serveImapUser>>(),
    openSession(): Session {
      sessions.open++;
      const login = async ({
        client,
        ...credentials
      }: PasswordCredentials & { client: ImapClient }): Promise<Admission | Refusal> => {
        if (credentials.username !== USER.username || credentials.password !== USER.password) return WRONG;
        sessions.client = client;
        const account = mail.openAccount();
        const { disabledCapabilities } = account;
        const handover = handovers.handOverTo((stream) => {
          const user = serveImapUser(
            { ...context, owner: 'user', pause: createPause(context.clock) },
            stream,
            account,
          );
          sessions.users.add(user);
          void user.done.then(() => sessions.users.delete(user));
        });
        opened?.discard();
        opened = handover;
        return { handover, disabledCapabilities };
      };
      let opened: Admission['handover'] | undefined;
      return {
        login,
        ...createScramSession(USER, login),
        close() {
          sessions.open--;
          opened?.discard();
        },
      };
    },
  };
  return sessions;
}

export type TestServer = Awaited<ReturnType<typeof startServer<AccountMail>>>;

/** Starts a server whose clock stands still. */
export async function startServer<Mail extends ServedMail = AccountMail>(
  t: Pick<TestContext, 'after'>,
  {
    mail: given,
    clock = createFakeClock(0),
    handovers = { handOverTo, endThread() {} },
    ...options
  }: Options<Mail> = {},
) {
  const opened = new Set<TestClient>();
  let close = async (): Promise<void> => {};
  // The account closes after its sessions.
  t.after(async () => {
    for (const client of opened) client.socket.destroy();
    await close();
  });
  // Callers that give no mail get the default.
  const mail = given ?? ((await createEmptyMail()) as ServedMail as Mail);
  const { log, lines } = recordLog();
  const { limits, id } = options;
  const sessions = createImapSessions(
    mail,
    // Nothing moves the clock on by itself, so changes are reported as soon as IDLE begins.
    { clock, log, limits: { idleBeginMs: 0, ...limits }, ...(id && { id }) },
    handovers,
  );
  const listener = await listenImap(
    { clock, log },
    {
      section: 'imap',
      at: { address: '127.0.0.1', port: 0 },
      hostname: 'mail.test',
      tls: undefined,
      openSession: sessions.openSession,
      ...options,
    },
  );
  const port = Number(listener.address.split(':').at(-1));
  close = () => listener.close();
  function dial(): TestClient {
    const client = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
    opened.add(client);
    return client;
  }
  /** Connects, and reads the greeting. */
  async function greeted(): Promise<TestClient> {
    const client = dial();
    await client.line();
    return client;
  }

  return {
    port,
    mail,
    sessions,
    lines,
    listener,
    /** Connects without waiting for the greeting. */
    dial,
    greeted,
    /** Connects, logs in, and runs these commands. */
    async open(...commands: string[]): Promise<TestClient> {
      const client = await greeted();
      for (const command of [LOGIN, ...commands]) {
        const completion = (await client.ask(command)).at(-1);
        if (!completion?.startsWith('OK')) throw new Error(`${command} was answered ${completion}`);
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
      // What the server has pushed since the completion can have come with it.
      inflater.write(Buffer.from(input, 'latin1'));
      input = '';
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
