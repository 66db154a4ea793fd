/** The listeners of the thread: one table says which protocols people read mail by, and on which ports. */
import { DISCONNECTED_TEXT } from '../accounts/mail-session.ts';
import type { Config } from '../config/config.ts';
import type { AccessServerOptions } from '../mail/access/options.ts';
import { listenImap } from '../mail/imap/server.ts';
import { listenManageSieve } from '../mail/managesieve/server.ts';
import type { Account, Refusal, Session } from '../mail/managesieve/session.ts';
import { listenPop3 } from '../mail/pop3/server.ts';
import { SIEVE_EXTENSIONS } from '../mail/sieve/extensions/table.ts';
import { MAX_REDIRECTS } from '../mail/sieve/run/action-list.ts';
import type { LoginRefusal } from '../mailboxes/credential.ts';
import type { ScriptCalls, ScriptLoginAnswer } from '../mailboxes/script-calls.ts';
import type { CertificateStore } from '../system/certificates.ts';
import { type Listener, listenAt } from '../system/listen.ts';
import { maxFilesOf } from '../system/open-files.ts';
import type { SystemApp } from '../thread-app.ts';
import type { WatchedLogin } from './open-logins.ts';
import { createImapSession, createPop3Session, type LoginCalls, type Sessions } from './session.ts';

const UNAVAILABLE: Refusal = {
  refused: 'NO',
  code: 'TRYLATER',
  text: 'The mailbox is not available at the moment',
};

const DISCONNECTED: Refusal = { refused: 'BYE', text: DISCONNECTED_TEXT };

const REFUSALS: Record<LoginRefusal, Refusal> = {
  credentials: { refused: 'NO', text: 'The user name or the password is wrong' },
  limited: { refused: 'NO', code: 'TRYLATER', text: 'Too many logins have failed; try again later' },
  suspended: { refused: 'NO', text: 'The mailbox is suspended' },
  damaged: UNAVAILABLE,
  unavailable: UNAVAILABLE,
};

type MainCalls = ScriptCalls & Pick<LoginCalls, 'scramKey'>;
type Admitted = Exclude<ScriptLoginAnswer, { refused: unknown }>;

/** Sections of the configuration with listeners of this thread. */
type AccessProtocolName = 'imap' | 'pop3' | 'managesieve';

/** Addresses that are listened on, that with TLS from the first byte first. */
export type AccessAddresses = Readonly<Record<AccessProtocolName, readonly string[]>>;

/** A port of a protocol. `section` names it in errors and metrics. */
type Port = { section: string; port: number; mode: 'immediate' | 'starttls' };

type Protocol = {
  name: AccessProtocolName;
  ports(config: Config): readonly Port[];
  listen(app: SystemApp, options: Options, sessions: Sessions): Promise<Listener>;
};

type Options = AccessServerOptions & { limits: { connections: number } };

const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'imap',
    ports: ({ imap }) => tlsPorts('imap', imap),
    listen: (app, options, sessions) =>
      listenImap(app, { ...options, openSession: () => createImapSession(sessions) }),
  },
  {
    name: 'pop3',
    ports: ({ pop3 }) => tlsPorts('pop3', pop3),
    listen: (app, options, sessions) =>
      listenPop3(app, {
        ...options,
        implementation: 'Postrider',
        openSession: () => createPop3Session(sessions),
      }),
  },
  {
    name: 'managesieve',
    ports: ({ managesieve }) => [{ section: 'managesieve', port: managesieve.port, mode: 'starttls' }],
    listen: (app, options, sessions) =>
      listenManageSieve(app, {
        ...options,
        implementation: 'Postrider',
        extensions: SIEVE_EXTENSIONS,
        maxRedirects: MAX_REDIRECTS,
        openSession: () => createScriptSession(sessions),
      }),
  },
];

/** Returns the port with TLS, and the one with STARTTLS where the operator wants it. */
function tlsPorts(
  name: string,
  settings: { port: number; starttls: boolean; starttlsPort: number },
): readonly Port[] {
  const tls: Port = { section: name, port: settings.port, mode: 'immediate' };
  if (!settings.starttls) return [tls];
  return [tls, { section: `${name}_starttls`, port: settings.starttlsPort, mode: 'starttls' }];
}

type AccessListeners = { addresses: AccessAddresses; close(graceMs: number): Promise<void> };

/** Starts to listen on all ports, or on none. @throws ListenError */
export async function openListeners(
  app: SystemApp,
  certificates: CertificateStore,
  sessions: Sessions,
): Promise<AccessListeners> {
  const { config } = app;
  await using opened = new AsyncDisposableStack();
  const listeners: { name: AccessProtocolName; listener: Listener }[] = [];
  for (const { name, ports: portsOf, listen } of PROTOCOLS) {
    const { address, connections } = config[name];
    const ports = portsOf(config);
    const limits = { connections: Math.min(connections, Math.floor(maxFilesOf(name) / ports.length)) };
    for (const { section, port, mode } of ports) {
      const common = { section, hostname: config.hostname, tls: { mode, certificates }, limits };
      const listener = await listenAt(address, (at) =>
        listen(app, { ...common, at: { address: at, port } }, sessions),
      );
      opened.defer(() => listener.close(0));
      listeners.push({ name, listener });
    }
  }
  opened.move();
  const addressesOf = (wanted: AccessProtocolName): string[] =>
    listeners.filter(({ name }) => name === wanted).map(({ listener }) => listener.address);
  const addresses: AccessAddresses = {
    imap: addressesOf('imap'),
    pop3: addressesOf('pop3'),
    managesieve: addressesOf('managesieve'),
  };
  app.log.info({ addresses }, 'serving mailboxes');
  return {
    addresses,
    async close(graceMs) {
      await Promise.all(listeners.map(({ listener }) => listener.close(graceMs)));
    },
  };
}

/** Returns the session of a new connection. */
export function createScriptSession({
  main,
  openLogins,
}: Pick<Sessions, 'openLogins'> & { main: MainCalls }): Session {
  let isClosed = false;
  let endWatch = () => {};

  function open(answer: ScriptLoginAnswer, address: string): Account | Refusal {
    if ('refused' in answer) return REFUSALS[answer.refused];
    // A client that has not believed the proof of the server, or has logged out of its account, may log in again.
    endWatch();
    const { promise: ended, resolve: end } = Promise.withResolvers<Refusal>();
    endWatch = openLogins.watch(watchedLogin(main, answer, address), end);
    // A client may go away while its password is checked.
    if (isClosed) endWatch();
    return { ...accountOf(main, answer), ended };
  }

  return {
    async login({ client, ...credentials }) {
      const { address } = client;
      return open(await main.loginToScripts({ ...credentials, address, protocol: 'sieve' }), address);
    },
    scramKey: (username) => main.scramKey(username),
    async loginByProof({ client, ...proof }) {
      const { address } = client;
      const answer = await main.loginToScripts({ ...proof, address, protocol: 'sieve' });
      const serverSignature = 'refused' in answer ? undefined : answer.serverSignature;
      return { answer: open(answer, address), serverSignature };
    },
    close() {
      isClosed = true;
      endWatch();
    },
  };
}

function watchedLogin(
  main: MainCalls,
  { login, expiresAt }: Admitted,
  address: string,
): WatchedLogin<Refusal> {
  const { mailboxId: id, credential } = login;
  const listed = { session: { protocol: 'sieve', address, credential }, disconnected: DISCONNECTED } as const;
  return { id, expiresAt, findEnd: () => main.findScriptLoginEnd(login), listed };
}

function accountOf({ manageScripts }: ScriptCalls, { owner, login }: Admitted): Account {
  type Method = keyof Omit<Account, 'owner' | 'ended'>;
  const call = <Name extends Method>(
    method: Name,
    ...args: Parameters<Account[Name]>
  ): ReturnType<Account[Name]> => manageScripts({ login, method, args }) as ReturnType<Account[Name]>;
  return {
    owner,
    list: () => call('list'),
    get: (name) => call('get', name),
    haveSpace: (name, sizeBytes) => call('haveSpace', name, sizeBytes),
    put: (name, content) => call('put', name, content),
    check: (content) => call('check', content),
    setActive: (name) => call('setActive', name),
    delete: (name) => call('delete', name),
    rename: (from, to) => call('rename', from, to),
  };
}
