/**
 * The accounts as a part of the daemon, in threads of their own: all SQL of mailboxes runs there, so that a long search delays
 * neither the API nor other accounts. The main thread decides which thread has an account (account-assignment.ts).
 */

import type { MessagePort, Transferable } from 'node:worker_threads';
import { createMailboxMessageReader } from '../mail/mailbox-message/reader.ts';
import type { Annotations, Folder } from '../mail/sieve/run/account.ts';
import { createByteBudget } from '../system/guards/byte-budget.ts';
import type { Part } from '../system/thread/part.ts';
import { moduleBeside } from '../system/thread.ts';
import { periodic, startWork } from '../system/worker.ts';
import type { SystemApp } from '../thread-app.ts';
import type { OpenAccount } from './account.ts';
import { type CheckReport, checkAccount } from './check.ts';
import { prepareContent } from './content.ts';
import type { ImportResult, ListedFolder, MailboxContents, StoredMessage } from './contents.ts';
import { type CopiedAccount, copyAccount } from './copy.ts';
import { deliver, findTarget, listTargets, readAnnotations } from './deliver.ts';
import type { DeliveryRequest, DeliveryResult } from './delivery.ts';
import { readFlags } from './flags.ts';
import { type CollectedAccounts, FollowedAccounts } from './followed-accounts.ts';
import { SESSION_MEMORY } from './imap/session-memory.ts';
import { type JunkSenders, listJunkSenders } from './junk-senders.ts';
import type { MailSession } from './mail-session.ts';
import {
  type MessageCallName,
  type MessageInput,
  type MessageResult,
  runMessageCall,
} from './messages/calls.ts';
import { type AccountReports, type AccountSettings, OpenAccounts } from './open-accounts.ts';
import { type RepairReport, repairAccount } from './repair.ts';
import type { SessionCredential } from './session-credential.ts';
import { type Admitted, createSessions, type SessionRequest } from './sessions.ts';
import { findMissing, importMessages, listForExport, readForExport, rememberDeliveries } from './transfer.ts';

/** Functions of the main thread for this one. */
export type ReportCalls = {
  [Name in keyof AccountReports]: (input: Parameters<AccountReports[Name]>[0]) => Promise<void>;
};

type MessagesToAdd = Parameters<MailboxContents['add']>[1];
type Slice = Parameters<MailboxContents['read']>[1];

export type AccountCalls = {
  /** Serves the sessions of a thread of connections over this port. */
  connect(input: { link: string; port: MessagePort }, transfer?: readonly Transferable[]): Promise<void>;
  /** Opens a session, and returns the stream on which it waits; undefined when there is no such link. */
  admit(input: SessionRequest): Promise<Admitted | undefined>;
  deliver(input: { account: AccountSettings; request: DeliveryRequest }): Promise<DeliveryResult>;
  listTargets(input: { account: AccountSettings }): Promise<Folder[]>;
  readAnnotations(input: { account: AccountSettings; folder: string }): Promise<Annotations['entries']>;
  listJunkSenders(input: { account: AccountSettings }): Promise<JunkSenders>;
  findMissing(input: { account: AccountSettings; deliveryIds: readonly string[] }): Promise<string[]>;
  importMessages(input: { account: AccountSettings; added: MessagesToAdd }): Promise<ImportResult>;
  remember(input: { account: AccountSettings; deliveryIds: readonly string[] }): Promise<void>;
  /** Makes a call of a program about messages. */
  message(input: {
    account: AccountSettings;
    name: MessageCallName;
    input: MessageInput<MessageCallName>;
  }): Promise<MessageResult<MessageCallName>>;
  listFolders(input: { account: AccountSettings }): Promise<ListedFolder[]>;
  read(input: { account: AccountSettings; slice: Slice }): Promise<StoredMessage[]>;
  check(input: { account: AccountSettings; after: number }): Promise<CheckReport>;
  /** Copies an account to a folder that does not exist, for a backup. */
  copy(input: { account: AccountSettings; to: string }): Promise<CopiedAccount>;
  /** Copies the WAL of an account back into the file of its database. */
  copyBack(input: { account: AccountSettings }): Promise<void>;
  /** Ends the sessions of an account, and repairs it while it is closed. */
  repair(input: { account: AccountSettings }): Promise<RepairReport>;
  /** Ends the sessions of an open account that were opened with this credential. */
  endSessions(input: { id: string; credential: SessionCredential['id'] }): Promise<void>;
  /** Returns the sessions of an open account, the newest first. */
  listSessions(input: { id: string }): Promise<MailSession[]>;
  /** Ends one session of an open account, or all when none is named. Returns their number. */
  disconnect(input: { id: string; sessionId?: string | undefined }): Promise<number>;
  /** Begins to gather what changes in all accounts of the thread, without what was gathered before, or ends that. */
  followPages(input: { isFollowed: boolean }): Promise<void>;
  /** Returns what has changed in the accounts of the thread since the last call. */
  collectPages(): Promise<CollectedAccounts>;
  /** Gives an open account new settings. */
  configure(input: { account: AccountSettings }): Promise<void>;
  /** Closes an account that nobody uses. Returns whether it is closed. */
  closeIdle(input: { id: string }): Promise<boolean>;
  /** Ends the sessions of an account, and closes it. */
  close(input: { id: string }): Promise<void>;
};

/** Maximum heap of a thread. Flags and UIDs of open folders, and the bytes of messages, are outside of it. */
const HEAP_MEGABYTES = 512;
/** Period in which the sizes of changed accounts are reported, in milliseconds. */
const USAGE_PERIOD_MS = 3_000;

/** Starts to serve accounts. */
async function startAccounts(app: SystemApp, host: ReportCalls): Promise<Part<AccountCalls>> {
  const parser = createMailboxMessageReader(app);
  const followed = new FollowedAccounts();
  const accountApp = { ...app, parser, sessionMemory: createByteBudget(SESSION_MEMORY), followed };
  const accounts = new OpenAccounts(accountApp, { reports: toHost(host) });
  const usage = startWork(
    app,
    periodic(app.clock, {
      name: 'usage of mailboxes',
      periodMs: USAGE_PERIOD_MS,
      run: () => accounts.reportUsage(),
    }),
  );
  const sessions = createSessions(accountApp, accounts);
  app.metrics.gauge('mailboxes_open', 'Open mailboxes.', () => accounts.size);

  return {
    calls: {
      connect: async ({ link, port }) => sessions.connect(link, port),
      admit: (request) => sessions.admit(request),
      deliver: ({ account: settings, request }) =>
        accounts.use(settings, (account) => deliverRequest(account, request)),
      listTargets: ({ account: settings }) => accounts.use(settings, listTargets),
      readAnnotations: ({ account: settings, folder }) =>
        accounts.use(settings, (account) => readAnnotations(account, folder)),
      listJunkSenders: ({ account: settings }) => accounts.use(settings, listJunkSenders),
      findMissing: ({ account: settings, deliveryIds }) =>
        accounts.use(settings, (account) => findMissing(account, deliveryIds)),
      importMessages: ({ account: settings, added }) =>
        accounts.use(settings, (account) =>
          importMessages(account, { ...added, quotaBytes: settings.quotaBytes }),
        ),
      remember: ({ account: settings, deliveryIds }) =>
        accounts.use(settings, (account) => rememberDeliveries(account, deliveryIds)),
      message: ({ account: settings, name, input }) =>
        accounts.use(settings, (account) => runMessageCall(account, name, input)),
      listFolders: ({ account: settings }) => accounts.use(settings, listForExport),
      read: ({ account: settings, slice }) =>
        accounts.use(settings, (account) => readForExport(account, slice)),
      check: ({ account: settings, after }) =>
        accounts.use(settings, (account) => checkAccount(account, after)),
      copy: ({ account: settings, to }) => accounts.use(settings, (account) => copyAccount(account, to)),
      copyBack: ({ account: settings }) => accounts.use(settings, ({ db }) => db.copyBack()),
      repair: ({ account: settings }) =>
        accounts.whileClosed(settings, () => repairAccount(accountApp, settings)),
      followPages: ({ isFollowed }) => followed.follow(isFollowed),
      collectPages: () => followed.collect(),
      endSessions: async ({ id, credential }) => accounts.endSessions(id, credential),
      listSessions: async ({ id }) => accounts.listSessions(id),
      disconnect: async ({ id, sessionId }) => accounts.disconnect(id, sessionId),
      configure: async ({ account: settings }) => accounts.configure(settings),
      closeIdle: ({ id }) => accounts.closeIdle(id),
      close: ({ id }) => accounts.close(id),
    },
    async stop(graceMs) {
      await usage.stop(graceMs);
      await accounts.closeAll();
      await parser.close();
    },
  };
}

/** Sessions of a thread that fails end with BYE, and their clients connect again. */
export const ACCOUNT_PART = {
  module: moduleBeside(import.meta.url, 'account-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startAccounts,
};

/** Stores a message that was accepted. A delivery that was stored before changes nothing. */
async function deliverRequest(
  account: OpenAccount,
  { deliveryId, sharedId, content, prefix, isJunk, receivedAt, target }: DeliveryRequest,
): Promise<DeliveryResult> {
  const name = target && (await findTarget(account, target));
  const folder = name !== undefined ? { name } : isJunk ? { specialUse: '\\Junk' } : undefined;
  const prepared = await prepareContent(account, content.file ?? [content.bytes]);
  await deliver(account, {
    deliveryId,
    content: prepared,
    prefix: Buffer.from(prefix),
    ...readFlags(target?.flags ?? []),
    receivedAt,
    ...(folder !== undefined && { folder }),
    ...(sharedId !== undefined && { sharedId }),
  });
  return { kind: 'delivered' };
}

function toHost(host: ReportCalls): AccountReports {
  // A main thread that has ended needs no reports.
  const report = (sent: Promise<void>): Promise<void> => sent.catch(() => {});
  return {
    usage: (usage) => report(host.usage(usage)),
    damaged: (input) => void report(host.damaged(input)),
  };
}
