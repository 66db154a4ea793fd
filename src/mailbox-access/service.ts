/**
 * The mailboxes of a running daemon: threads of accounts, and a thread with the listeners. An installation without mailboxes has none
 * of them; the listeners open with the first mailbox.
 */

import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, type Transferable } from 'node:worker_threads';
import type { SessionSource } from '../accounts/mail-session.ts';
import type { AccountSettings } from '../accounts/open-accounts.ts';
import { ACCOUNT_PART, type AccountCalls, type ReportCalls } from '../accounts/part.ts';
import type { App } from '../app.ts';
import type { Certificates } from '../certificates/certificates.ts';
import { type Accounts, createAccounts } from '../mailboxes/accounts.ts';
import { type Authenticate, createAuthenticator, type LoginRequest } from '../mailboxes/authenticate.ts';
import { type Credential, renewLogin, sessionCredential } from '../mailboxes/credential.ts';
import { createScramKeys } from '../mailboxes/scram-keys.ts';
import { createScriptCalls, type ScriptCalls } from '../mailboxes/script-calls.ts';
import { createScriptRunner, type ScriptRunner } from '../mailboxes/scripts/runner.ts';
import { hasMailboxes, recordDamage, recordUsage } from '../mailboxes/store.ts';
import { AppError } from '../system/errors.ts';
import type { PartThread } from '../system/thread.ts';
import type { Work } from '../system/worker.ts';
import { createSystemPart } from '../thread-app.ts';
import type { AccessAddresses } from './listeners.ts';
import { createOpenLogins, type OpenLogins } from './open-logins.ts';
import { ACCESS_PART, type AccessCalls } from './part.ts';
import type { LoginAnswer, LoginCalls } from './session.ts';

type Connect = (
  input: { link: string; port: MessagePort },
  transfer: readonly Transferable[],
) => Promise<void>;
type Connectable = { calls: { connect: Connect } };

type Links = {
  /** Returns the link to a thread of accounts. @throws AppError unavailable while one of the threads is being started */
  get(thread: number): Promise<string>;
  /** Forgets a link that the thread of accounts does not know, because one of the two threads has started again. */
  forget(thread: number): void;
};

export type Mailboxes = {
  accounts: Accounts;
  /** Threads that check and run the scripts of mailboxes. */
  scripts: ScriptRunner;
  /** Checks the password of a mailbox, for protocols whose listeners are elsewhere. */
  authenticate: Authenticate;
  /** Logins of protocols whose listeners are on the main thread. */
  openLogins: OpenLogins;
  /**
   * Opens the listeners if there are mailboxes.
   * @throws ListenError, as an error of that name
   */
  startIfNeeded(): Promise<void>;
  /** Addresses that are listened on for IMAP and the like; undefined while there are no mailboxes. */
  accessAddresses(): Promise<AccessAddresses | undefined>;
  readonly isRunning: boolean;
  readonly failed: Promise<Error>;
  /** Ends the connections, and then closes the accounts. */
  stop(graceMs: number): Promise<void>;
};

/** A session that a thread of accounts is asked to open. */
type Admitted = Pick<LoginRequest, 'protocol' | 'address'> & {
  account: AccountSettings;
  calls: AccountCalls;
  thread: number;
  credential: Credential;
};

/** Limits of the number of threads of accounts, within which it is that of the cores. */
const MIN_ACCOUNT_THREADS = 2;
const MAX_ACCOUNT_THREADS = 4;

/** Returns the mailboxes, in threads of their own or in this one. Nothing of them runs yet. */
export function createMailboxes(
  app: App,
  certificates: Pick<Certificates, 'follow' | 'list'>,
  { inThreads }: { inThreads: boolean },
): Mailboxes {
  const authenticate = createAuthenticator(app);
  const threads = Array.from({ length: inThreads ? accountThreads() : 1 }, (_, index) =>
    createAccountThread(app, { name: `accounts-${index + 1}`, inThreads }),
  );
  const openLogins = createOpenLogins(app);
  const accounts = createAccounts(app, threads, { others: [openLogins, sessionsIn(() => access.calls)] });
  const scripts = createScriptRunner(app);
  const access = createAccessThread(app, {
    certificates,
    calls: {
      login,
      scramKey: createScramKeys(app),
      ...createScriptCalls({ ...app, scriptRunner: scripts }, authenticate),
    },
    inThreads,
  });
  const links = createLinks(access, threads);
  let isStarted = false;

  async function login(request: LoginRequest): Promise<LoginAnswer> {
    const answer = await authenticate(request);
    if ('refused' in answer) return answer;
    const { mailbox, credential } = answer;
    const { protocol, address } = request;
    try {
      const admission = await accounts.run(mailbox, (account, calls, thread) =>
        admit({ account, calls, thread, credential, protocol, address }),
      );
      // A credential that was revoked while the account was opened has a session that nobody has ended.
      const renewed = await renewLogin(app, answer);
      if (!('refused' in renewed)) return { ...admission, serverSignature: answer.serverSignature };
      await accounts.endSessions(mailbox.id, sessionCredential(credential).id);
      return renewed;
    } catch (error) {
      if (!(error instanceof AppError)) app.log.error({ err: error }, 'a mailbox could not be opened');
      return { refused: 'unavailable' };
    }
  }

  async function admit({
    account,
    calls,
    thread,
    credential,
    protocol,
    address,
  }: Admitted): Promise<LoginAnswer> {
    // Either thread may have started again since the two were linked.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const link = await links.get(thread);
      const admitted = await calls.admit({
        account,
        link,
        protocol,
        address,
        credential: sessionCredential(credential),
      });
      const { disabledCapabilities } = account;
      if (admitted) return 'refused' in admitted ? admitted : { link, disabledCapabilities, ...admitted };
      links.forget(thread);
    }
    return { refused: 'unavailable' };
  }

  return {
    accounts,
    scripts,
    authenticate,
    openLogins,
    async startIfNeeded() {
      if (isStarted || !(await hasMailboxes(app.db.read))) return;
      isStarted = true;
      await access.start();
    },
    accessAddresses: async () => (isStarted ? await access.calls.addresses() : undefined),
    get isRunning() {
      return access.isRunning && threads.every(({ isRunning }) => isRunning);
    },
    failed: Promise.race([access, ...threads].map(({ failed }) => failed)),
    async stop(graceMs) {
      await access.stop(graceMs);
      openLogins.close();
      await scripts.close();
      await Promise.all(threads.map((thread) => thread.stop(graceMs)));
    },
  };
}

/** Returns the sessions that the thread of the listeners serves to their end. */
function sessionsIn(callsOf: () => AccessCalls): SessionSource {
  return {
    listSessions: (id) => callsOf().listSessions({ id }),
    disconnect: (id, sessionId) => callsOf().disconnect({ id, sessionId }),
  };
}

/** Returns the work that opens the listeners once there are mailboxes. */
export function createMailboxStart(mailboxes: Pick<Mailboxes, 'startIfNeeded'>): Work<never> {
  return {
    name: 'start of mailboxes',
    wakeOn: ['mailboxes'],
    async lease() {
      // A thread that could not start is logged, and started again by itself.
      await mailboxes.startIfNeeded().catch(() => {});
      return { items: [], nextDueAt: undefined };
    },
    run: async () => {},
  };
}

function accountThreads(): number {
  return Math.min(Math.max(availableParallelism(), MIN_ACCOUNT_THREADS), MAX_ACCOUNT_THREADS);
}

function createAccountThread(
  app: App,
  { name, inThreads }: { name: string; inThreads: boolean },
): PartThread<AccountCalls> {
  const reports: ReportCalls = {
    usage: (usage) => app.db.commit(recordUsage, usage),
    async damaged({ id }) {
      await app.db.commit(recordDamage, { id, now: app.clock.now() });
    },
  };
  return createSystemPart(
    app,
    { ...ACCOUNT_PART, name },
    { inThreads, host: reports, data: () => undefined },
  );
}

type AccessOptions = {
  certificates: Pick<Certificates, 'follow'>;
  calls: LoginCalls & ScriptCalls;
  inThreads: boolean;
};

function createAccessThread(
  app: App,
  { certificates, calls, inThreads }: AccessOptions,
): PartThread<AccessCalls> {
  const ignore = (sent: Promise<void>): void => void sent.catch(() => {});
  let isStarted = false;
  /** Certificates that the next start gets. */
  let current = certificates.follow({
    replace(pairs) {
      current = pairs;
      if (isStarted) ignore(thread.calls.replaceCertificates(pairs));
    },
    renewTicketKey() {
      if (isStarted) ignore(thread.calls.renewTicketKey());
    },
  });
  const data = () => {
    isStarted = true;
    return current;
  };
  const thread = createSystemPart(app, ACCESS_PART, { inThreads, host: calls, data });
  return thread;
}

/** Returns links between these threads, none of which is connected. */
export function createLinks(access: Connectable, accounts: readonly Connectable[]): Links {
  const links = new Map<number, Promise<string>>();

  async function connect(thread: number): Promise<string> {
    const link = randomUUID();
    const { port1, port2 } = new MessageChannel();
    await Promise.all([
      access.calls.connect({ link, port: port1 }, [port1]),
      accounts[thread]?.calls.connect({ link, port: port2 }, [port2]),
    ]);
    return link;
  }

  return {
    async get(thread) {
      const link = links.get(thread) ?? connect(thread);
      links.set(thread, link);
      try {
        return await link;
      } catch (error) {
        if (links.get(thread) === link) links.delete(thread);
        throw error;
      }
    },
    forget: (thread) => void links.delete(thread),
  };
}
