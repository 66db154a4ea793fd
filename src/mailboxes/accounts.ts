/** The accounts of mailboxes, as the main thread reaches them in their threads. */

import { AccountAssignment } from '../accounts/account-assignment.ts';
import type { MailboxContents } from '../accounts/contents.ts';
import type { CopiedAccount } from '../accounts/copy.ts';
import type {
  DeliveryRequest,
  DeliveryResult,
  MailboxDelivery,
  MailboxTargets,
} from '../accounts/delivery.ts';
import { accountFolder } from '../accounts/folder.ts';
import type { CollectedAccounts } from '../accounts/followed-accounts.ts';
import { listedSessions, type SessionSource } from '../accounts/mail-session.ts';
import type {
  MailboxMessages,
  MessageCallName,
  MessageInput,
  MessageResult,
} from '../accounts/messages/calls.ts';
import type { AccountSettings } from '../accounts/open-accounts.ts';
import type { AccountCalls } from '../accounts/part.ts';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { AppError, notFound } from '../system/errors.ts';
import { maxFilesOf, readMaxOpenFiles } from '../system/open-files.ts';
import type { PartThread } from '../system/thread.ts';
import { FollowedThreads } from './followed-threads.ts';
import type { MailboxRepairs } from './repairs.ts';
import { findMailboxById, recordDamage, recordRepair } from './store.ts';

type MailboxId = MailboxRow['id'];

/** A thread of accounts, by its place in the list of them. */
type AccountThread = Pick<PartThread<AccountCalls>, 'calls'>;

/** A call to the thread of an account. */
type AccountCall<Result> = (account: AccountSettings, calls: AccountCalls, thread: number) => Promise<Result>;

export type Accounts = MailboxDelivery &
  MailboxTargets &
  RunningAccounts & {
    /**
     * Runs a call to the thread of an account, which opens it.
     * @throws AppError unavailable when the account is damaged or its thread starts again; the errors of the call
     */
    run<Result>(mailbox: MailboxRow, call: AccountCall<Result>): Promise<Result>;
    /** The messages, for commands that import and export them. */
    contents: MailboxContents;
    /** Copies the account of a mailbox to a folder that does not exist, for a backup. */
    copy(mailbox: MailboxRow, to: string): Promise<CopiedAccount>;
    /**
     * Copies the WAL of an account back into the file of its database. One that a crash has left is read by whoever follows.
     * @throws AppError unavailable when the account is damaged; errors of its thread
     */
    copyBack(id: MailboxId): Promise<void>;
    /** Checks and repairs for the operator. */
    repairs: MailboxRepairs;
    /**
     * Begins to gather what changes in all accounts, or ends that. Each beginning forgets what was gathered before: the caller copies
     * the accounts after it.
     */
    followPages(isFollowed?: boolean): Promise<void>;
    /** Returns what has changed in all accounts since the last call. */
    collectPages(): Promise<CollectedAccounts>;
  };

/** Files of an open account: two databases, each with its WAL. */
const FILES_PER_ACCOUNT = 4;

/**
 * Returns the accounts of these threads, none of which is open.
 * @param options.maxOpenFiles maximum number of files of the process
 * @param options.others what serves the sessions of protocols that are not in these threads
 */
export function createAccounts(
  app: Pick<App, 'db' | 'config' | 'log' | 'clock' | 'wakeups'>,
  threads: readonly AccountThread[],
  {
    maxOpenFiles = readMaxOpenFiles(),
    others = [],
  }: { maxOpenFiles?: number; others?: readonly SessionSource[] } = {},
): Accounts {
  const maxAssigned = maxFilesOf('mailboxes', maxOpenFiles) / FILES_PER_ACCOUNT;
  const followed = new FollowedThreads(app, callsOf);
  const assignment = new AccountAssignment(
    { threads: threads.length, maxAssigned, closed: followed },
    (thread, id) => isClosed(app, callsOf(thread).closeIdle({ id })),
  );

  function callsOf(thread: number): AccountCalls {
    const found = threads[thread];
    if (!found) throw new Error(`there is no thread of accounts ${thread}`);
    return found.calls;
  }

  async function run<Result>(mailbox: MailboxRow, call: AccountCall<Result>): Promise<Result> {
    try {
      return await assignment.use(mailbox.id, (thread) => {
        followed.use(thread);
        return call(settingsOf(app, mailbox), callsOf(thread), thread);
      });
    } catch (error) {
      throw isDamage(error) ? damaged(error) : error;
    }
  }

  /** Returns the thread that has an account open, if one has. */
  function openThread(id: string): AccountCalls | undefined {
    const thread = assignment.threadOf(id as MailboxId);
    return thread === undefined ? undefined : callsOf(thread);
  }

  async function tellOpen(id: MailboxId, call: (calls: AccountCalls) => Promise<void>): Promise<void> {
    const calls = openThread(id);
    if (calls) await answerOrNone(app, () => call(calls), undefined);
  }

  /** Protocols whose sessions are not in the threads ask again which of their logins still stand. */
  const tellOthers = (id: MailboxId): void => app.wakeups.notify('logins', [id]);

  async function find(id: MailboxId): Promise<MailboxRow> {
    const mailbox = await findMailboxById(app.db.read, id);
    if (!mailbox) throw notFound('Mailbox');
    if (mailbox.status === 'damaged') throw damaged();
    return mailbox;
  }

  return {
    run,
    async deliver(request: DeliveryRequest): Promise<DeliveryResult> {
      try {
        const mailbox = await find(request.mailboxId);
        return await run(mailbox, (account, calls) => calls.deliver({ account, request }));
      } catch (error) {
        if (error instanceof AppError) return { kind: 'waiting', reason: error.message };
        throw error;
      }
    },
    listTargets: async (id) => run(await find(id), (account, calls) => calls.listTargets({ account })),
    readAnnotations: async (id, folder) =>
      run(await find(id), (account, calls) => calls.readAnnotations({ account, folder })),
    close(id) {
      tellOthers(id);
      return assignment.close(id, (thread) =>
        isClosed(
          app,
          callsOf(thread)
            .close({ id })
            .then(() => true),
        ),
      );
    },
    endSessions(id, credential) {
      tellOthers(id);
      return tellOpen(id, (calls) => calls.endSessions({ id, credential }));
    },
    ...sessionsOf(app, openThread, others),
    listJunkSenders: (mailbox) => run(mailbox, (account, calls) => calls.listJunkSenders({ account })),
    configure: (mailbox) =>
      tellOpen(mailbox.id, (calls) => calls.configure({ account: settingsOf(app, mailbox) })),
    copy: (mailbox, to) => run(mailbox, (account, calls) => calls.copy({ account, to })),
    copyBack: (id) => copyBack(app, id, run),
    followPages: (isFollowed = true) => followed.follow(isFollowed),
    collectPages: () => followed.collect(),
    messages: messagesOf(run),
    contents: contentsOf(async (id, call) => run(await find(id), call)),
    repairs: {
      check: (mailbox, after) => run(mailbox, (account, calls) => calls.check({ account, after })),
      async repair(mailbox) {
        const { id, status } = mailbox;
        // While the mailbox counts as damaged, logins are refused and mail waits.
        await app.db.commit(recordDamage, { id, now: app.clock.now() });
        const report = await run(mailbox, (account, calls) => calls.repair({ account }));
        const repaired = status === 'damaged' ? 'active' : status;
        await app.db.commit(recordRepair, { id, status: repaired, now: app.clock.now() });
        return report;
      },
    },
  };
}

/** The folder of a mailbox that was deleted is removed soon, and nobody needs it. */
async function copyBack({ db }: Pick<App, 'db'>, id: MailboxId, run: Accounts['run']): Promise<void> {
  const mailbox = await findMailboxById(db.read, id);
  if (mailbox?.status === 'damaged') throw damaged();
  if (mailbox) await run(mailbox, (account, calls) => calls.copyBack({ account }));
}

/** A thread that has died has closed its accounts. */
async function isClosed({ log }: Pick<App, 'log'>, answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof AppError)) log.error({ err: error }, 'a mailbox could not be closed');
    return true;
  }
}

/** Calls what serves sessions. A thread that has died has none, and then the answer is `none`. */
async function answerOrNone<Answer>(
  { log }: Pick<App, 'log'>,
  call: () => Promise<Answer>,
  none: Answer,
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof AppError)) log.error({ err: error }, 'a mailbox could not be told');
    return none;
  }
}

/** Returns the sessions of all protocols: those of the thread that has the account open, and those that others serve. */
function sessionsOf(
  app: Pick<App, 'log'>,
  openThread: (id: string) => AccountCalls | undefined,
  others: readonly SessionSource[],
): SessionSource {
  function askEach<Answer>(id: string, ask: (source: SessionSource) => Promise<Answer>, none: Answer) {
    const calls = openThread(id);
    const own = calls && {
      listSessions: () => calls.listSessions({ id }),
      disconnect: (_id: string, sessionId?: string) => calls.disconnect({ id, sessionId }),
    };
    const sources = own ? [own, ...others] : others;
    return Promise.all(sources.map((source) => answerOrNone(app, () => ask(source), none)));
  }

  return {
    async listSessions(id) {
      return listedSessions((await askEach(id, (source) => source.listSessions(id), [])).flat());
    },
    async disconnect(id, sessionId) {
      const ended = await askEach(id, (source) => source.disconnect(id, sessionId), 0);
      return ended.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Returns the messages of accounts, for programs. */
function messagesOf(run: Accounts['run']): MailboxMessages {
  return {
    async call<Name extends MessageCallName>(
      mailbox: MailboxRow,
      name: Name,
      input: MessageInput<Name>,
    ): Promise<MessageResult<Name>> {
      const result = await run(mailbox, (account, calls) => calls.message({ account, name, input }));
      // The call has the type of all calls together, since the thread knows the name alone.
      return result as MessageResult<Name>;
    },
  };
}

/** Returns the messages of accounts, each of which `run` reaches by its id. */
function contentsOf(
  run: <Result>(id: MailboxId, call: AccountCall<Result>) => Promise<Result>,
): MailboxContents {
  return {
    findMissing: (id, deliveryIds) =>
      run(id, (account, calls) => calls.findMissing({ account, deliveryIds })),
    add: (id, added) => run(id, (account, calls) => calls.importMessages({ account, added })),
    remember: (id, deliveryIds) => run(id, (account, calls) => calls.remember({ account, deliveryIds })),
    listFolders: (id) => run(id, (account, calls) => calls.listFolders({ account })),
    read: (id, slice) => run(id, (account, calls) => calls.read({ account, slice })),
  };
}

function damaged(cause?: Error): AppError {
  return new AppError('unavailable', 'The mailbox is damaged; its operator has to repair it', { cause });
}

function settingsOf({ config }: Pick<App, 'config'>, mailbox: MailboxRow): AccountSettings {
  const { id, quotaBytes, messageCount, usedBytes, lastModseq, disabledCapabilities, updatedAt } = mailbox;
  return {
    id,
    quotaBytes,
    updatedAt,
    folder: accountFolder(config.dataDir, id),
    // Mailboxes of earlier versions have no number of changes before they are opened.
    isNew: lastModseq === 0 && messageCount === 0 && usedBytes === 0,
    lastModseq,
    disabledCapabilities: JSON.parse(disabledCapabilities) as string[],
  };
}

/** Returns true for the error of a damaged account, which has crossed from its thread. */
function isDamage(error: unknown): error is Error {
  return error instanceof Error && error.name === 'DamagedDatabaseError';
}
