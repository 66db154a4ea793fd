/** A ManageSieve server whose sessions keep scripts in memory, for one user, and a client of it. */
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import type { ManageSieveOptions } from '../../../src/mail/managesieve/options.ts';
import { listenManageSieve } from '../../../src/mail/managesieve/server.ts';
import type { Account, Refusal, Session } from '../../../src/mail/managesieve/session.ts';
import type { PasswordCredentials } from '../../../src/mail/sasl/exchange.ts';
import type { Clock } from '../../../src/system/clock.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { createScramSession } from '../../support/scram-client.ts';
import { createClient, type TestClient } from '../imap/fixture.ts';

export const USER = { username: 'user@test.example', password: 'secret word' };
const PLAIN = Buffer.from(`\0${USER.username}\0${USER.password}`).toString('base64');
export const LOGIN = `AUTHENTICATE "PLAIN" "${PLAIN}"`;

const no = (code: NonNullable<Refusal['code']>, text: string): Refusal => ({ refused: 'NO', code, text });
const missing = () => no('NONEXISTENT', 'There is no such script');

/** Returns scripts, of which those with `invalid` in them are refused. Methods of the account can be replaced. */
export function createMemoryScripts(replaced: Partial<Account> = {}) {
  const scripts = new Map<string, string>();
  let active = '';
  const check = async (content: string): Promise<Refusal | undefined> =>
    content.includes('invalid')
      ? { refused: 'NO', text: 'line 2, column 1: unknown command "invalid"' }
      : undefined;
  const account: Account = {
    owner: USER.username,
    list: async () => [...scripts.keys()].map((name) => ({ name, isActive: name === active })),
    async get(name) {
      const content = scripts.get(name);
      return content === undefined ? missing() : { content };
    },
    haveSpace: async (_name, sizeBytes) =>
      sizeBytes > 1_000 ? no('QUOTA/MAXSIZE', 'A script has at most 1000 octets') : undefined,
    async put(name, content) {
      const refusal = await check(content);
      if (!refusal) scripts.set(name, content);
      return refusal;
    },
    check,
    async setActive(name) {
      if (name !== '' && !scripts.has(name)) return missing();
      active = name;
      return undefined;
    },
    async delete(name) {
      if (name === active) return no('ACTIVE', 'The script is active');
      return scripts.delete(name) ? undefined : missing();
    },
    async rename(from, to) {
      const content = scripts.get(from);
      if (content === undefined) return missing();
      if (scripts.has(to)) return no('ALREADYEXISTS', 'There is a script with this name');
      scripts.delete(from);
      scripts.set(to, content);
      if (active === from) active = to;
      return undefined;
    },
    ...replaced,
  };
  const memory = {
    scripts,
    openSessions: 0,
    logins: 0,
    openSession(): Session {
      memory.openSessions += 1;
      const login = async ({ username, password }: PasswordCredentials): Promise<Account | Refusal> => {
        memory.logins += 1;
        if (username === USER.username && password === USER.password) return account;
        return { refused: 'NO', text: 'The user name or the password is wrong' };
      };
      return {
        login,
        ...createScramSession(USER, login),
        close() {
          memory.openSessions -= 1;
        },
      };
    },
  };
  return memory;
}

type Options = Partial<Omit<ManageSieveOptions, 'at' | 'section' | 'openSession'>> & {
  account?: Partial<Account>;
  clock?: Clock;
};

export type SieveClient = TestClient & {
  /** Sends a command, and returns its responses; the last one completes it. */
  run(command: string): Promise<string[]>;
  completed(): Promise<string[]>;
};

/** Gives a client of IMAP, which reads lines with literals, the completions of ManageSieve. */
export function sieveClient(client: TestClient): SieveClient {
  async function completed(): Promise<string[]> {
    const lines: string[] = [];
    for (;;) {
      const line = await client.line();
      lines.push(line);
      if (/^(?:OK|NO|BYE)\b|^closed$/.test(line)) return lines;
    }
  }
  return Object.assign(client, {
    completed,
    async run(command: string) {
      client.send(`${command}\r\n`);
      return await completed();
    },
  });
}

/** Starts a server whose clock stands still. */
export async function startServer(
  t: Pick<TestContext, 'after'>,
  { account = {}, clock = createFakeClock(0), ...options }: Options = {},
) {
  const { log, lines } = recordLog();
  const memory = createMemoryScripts(account);
  const listener = await listenManageSieve(
    { clock, log },
    {
      section: 'managesieve',
      at: { address: '127.0.0.1', port: 0 },
      hostname: 'mail.test',
      implementation: 'Test',
      extensions: ['fileinto', 'vacation'],
      maxRedirects: 4,
      tls: undefined,
      openSession: memory.openSession,
      ...options,
    },
  );
  const port = Number(listener.address.split(':').at(-1));
  const opened = new Set<TestClient>();
  t.after(async () => {
    for (const client of opened) client.socket.destroy();
    await listener.close();
  });
  /** Connects, and reads the greeting. */
  async function dial(): Promise<SieveClient> {
    const client = sieveClient(createClient(connect({ host: '127.0.0.1', port, noDelay: true })));
    opened.add(client);
    await client.completed();
    return client;
  }
  return {
    port,
    memory,
    lines,
    listener,
    dial,
    async open(): Promise<SieveClient> {
      const client = await dial();
      const completion = (await client.run(LOGIN)).at(-1);
      if (completion !== 'OK "Logged in"') throw new Error(`the login was answered ${completion}`);
      return client;
    },
  };
}
