/**
 * The composition root: it loads the app, starts listeners and workers, and drains them at the end. It lists
 * everything that the daemon consists of.
 */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createApiServer, openApi } from './api.ts';
import { type App, type OpenOptions, openApp } from './app.ts';
import { contactExport } from './audiences/csv/export.ts';
import { contactImport } from './audiences/csv/import.ts';
import { type Backups, createBackups } from './backups/backups.ts';
import { requireWritableFolders } from './blobs/files.ts';
import { blobFolder } from './blobs/owner.ts';
import { createBlobSweep } from './blobs/worker.ts';
import { linkExport } from './broadcasts/clicked-links/export.ts';
import { recipientExport } from './broadcasts/recipients/export.ts';
import { type Certificates, openCertificates } from './certificates/certificates.ts';
import type { Config } from './config/config.ts';
import { createControlServer, listenControl } from './control-socket.ts';
import type { SetBack } from './db/due-times.ts';
import { followClock, startInstallationWork } from './db/installation-worker.ts';
import { adviseOnStorage } from './db/storage-advice.ts';
import { createDnsUpdates, type DnsUpdates } from './dns-updates/updates.ts';
import { entriesOf } from './features.ts';
import { mtaStsRecords } from './host-names/mta-sts.ts';
import { createShedLog } from './http/transport/shed.ts';
import { openHttps } from './https-ports/listener.ts';
import { createMailboxes, type Mailboxes } from './mailbox-access/service.ts';
import { createImportReader } from './mailbox-imports/reader.ts';
import type { ImportCalls } from './mailbox-imports/run.ts';
import { createNameServer, type NameServer } from './nameserver/name-server.ts';
import { forgetZoneTexts } from './nameserver/texts.ts';
import { Censuses } from './queue/control/census.ts';
import { watchQueue } from './queue/control/queue-metrics.ts';
import type { Traces } from './queue/conversation/trace.ts';
import { createDelivery, type Delivery } from './queue/delivery.ts';
import { RepliesFile } from './queue/outcome/replies/replies.ts';
import type { Sites } from './queue/shaping/site-calls.ts';
import { moveQueue } from './queue/state/recover.ts';
import { recoverQueue } from './queue/worker.ts';
import { createInboundApp, type InboundApp, type MailboxScripts } from './receiving/inbound-app.ts';
import { openInbound } from './receiving/listener.ts';
import { createLocalReceiver } from './receiving/local.ts';
import { openToReload, reload } from './reload.ts';
import { createRetentionWork } from './retention/worker.ts';
import { POST_PART, type RouteCalls } from './routes/post/part.ts';
import { startPostsIfNeeded } from './routes/post/start.ts';
import { ReplacedError, requireNotReplaced } from './standby/replaced.ts';
import { createStandby, type Standby } from './standby/standby.ts';
import { openSubmission } from './submission/listeners.ts';
import { suppressionExport } from './suppressions/export.ts';
import { suppressionImport } from './suppressions/import.ts';
import { resolversInUse } from './system/dns/servers.ts';
import { errorCode } from './system/errors.ts';
import type { Listener } from './system/listen.ts';
import type { System } from './system/system.ts';
import type { PartThread } from './system/thread.ts';
import { startWork } from './system/worker.ts';
import { startTasks } from './tasks/engine.ts';
import { moveTasks, watchTasks } from './tasks/upkeep.ts';
import { createPart } from './thread-app.ts';
import { VERSION } from './version.ts';
import { WEBHOOK_PART, type WebhookCalls } from './webhooks/part.ts';
import { startWebhooksIfNeeded } from './webhooks/start.ts';

export type Daemon = {
  /** URL that the API listens on, such as `http://127.0.0.1:8025`. */
  address: string;
  /** Address and port that mail arrives at, such as `127.0.0.1:2525`. */
  smtpAddress: string;
  /** Address and port that people and applications send at with STARTTLS, such as `127.0.0.1:2587`; empty while submission is off. */
  submissionAddress: string;
  /** Returns the addresses and ports of IMAP and the like; undefined while there is no mailbox. */
  accessAddresses: Mailboxes['accessAddresses'];
  app: App;
  /** Applies what may change in a running daemon of a configuration that was read again (reload.ts). */
  reload(next: Config): Promise<void>;
  /** Accepts nothing new, waits up to 30 s for running work, and closes everything. */
  stop(): Promise<void>;
};

/** Moves all due times when the wall clock was set back: those of tasks, and those of mail. */
export async function moveDueTimes(
  { db, wakeups }: Pick<App, 'db' | 'wakeups'>,
  setBack: SetBack,
): Promise<void> {
  await Promise.all([moveTasks(db, setBack), moveQueue(db, setBack)]);
  for (const name of ['tasks', 'queue']) wakeups.notify(name);
}

/** Maximum time of a drain, in milliseconds: running transactions are completed, all other mail stays queued. */
const DRAIN_MS = 30_000;

/** Everything that accepts connections, in the order in which it opens. The first three addresses are shown. */
const LISTENERS: readonly ((app: App, parts: Parts) => Promise<Listener>)[] = [
  (app, { api }) => openApi(app, api),
  (_app, { inbound, certificates }) => openInbound(inbound, certificates),
  (app, { certificates, mailboxes }) => openSubmission(app, certificates, mailboxes),
  (app, { control }) => listenControl(app, control),
  (app, { api: server, certificates }) => openHttps(app, { server, certificates }),
];

/**
 * Starts the daemon. It resolves when every listener listens and the workers run. When it fails, everything that was
 * opened is closed again.
 * @throws the errors of `openApp`, ListenError, ControlSocketError, and errors of the file system and of the network
 */
export async function startDaemon(
  config: Config,
  overrides: Partial<System> = {},
  options: OpenOptions = {},
): Promise<Daemon> {
  await using opened = new AsyncDisposableStack();
  const app = opened.use(await openApp(openToReload(config), overrides, options));
  requireWritableFolders(blobFolder(app.config.dataDir));
  await requireNotReplaced(app);
  await followClock(app, (setBack) => moveDueTimes(app, setBack));
  const certificates = opened.use(await openCertificates(app));
  const inThreads = Object.keys(overrides).length === 0;
  const threads = createThreads(app, certificates, inThreads);
  for (const part of Object.values(threads)) opened.defer(() => part.stop(0));
  await forgetZoneTexts(app);
  const watched = {
    censuses: new Censuses(app),
    trace: threads.delivery.traces,
    sites: threads.delivery.sites,
    replies: new RepliesFile(app),
  };
  const { accounts } = threads.mailboxes;
  const backups = createBackups({ ...app, copyAccount: accounts.copy });
  const standby = createStandby(app, { accounts, backups, inThreads });
  opened.defer(() => standby.stop(0));
  const shared = {
    ...threads,
    ...watched,
    backups,
    standby,
    certificates,
    dnsUpdates: createDnsUpdates(app, [certificates.records, mtaStsRecords(app.config)]),
  };
  // Threads load their code while the servers are made.
  const [{ control, api }] = await Promise.all([
    createServers(app, shared, opened),
    startThreads(app, threads),
    recoverQueue(app),
  ]);
  const inbound = createInboundApp(app, scriptsOfMailboxes(threads));
  const parts: Parts = { ...shared, control, api, inbound };
  const listeners: Listener[] = [];
  for (const open of LISTENERS) {
    listeners.push(opened.adopt(await open(app, parts), (listener) => listener.close()));
  }
  await threads.delivery.begin(createLocalReceiver(inbound));
  const workers = opened.adopt(startWorkers(app, parts), async (started) => {
    await Promise.all(started.map((worker) => worker.stop(0)));
  });
  endOnFailure(app, Promise.race([...Object.values(threads).map(({ failed }) => failed), standby.replaced]));
  const [address = '', smtpAddress = '', submissionAddress = ''] = listeners.map(
    (listener) => listener.address,
  );
  const { hostname, dataDir } = config;
  app.log.info({ address, smtpAddress, submissionAddress, hostname, dataDir, version: VERSION }, 'serving');
  opened.move();
  const stoppable = [
    ...Object.values(threads),
    standby,
    { stop: () => certificates[Symbol.asyncDispose]() },
    ...workers,
  ];
  const { accessAddresses } = threads.mailboxes;
  const addresses = { address, smtpAddress, submissionAddress, accessAddresses };
  return {
    ...addresses,
    app,
    reload: (next) => reload({ app, certificates }, next),
    stop: () => drain(app, listeners, stoppable),
  };
}

/** Makes the servers of the API and of the control socket, which do not listen yet. `opened` closes them. */
async function createServers(
  app: App,
  shared: Omit<Parts, 'api' | 'inbound' | 'control'>,
  opened: AsyncDisposableStack,
): Promise<Pick<Parts, 'control' | 'api'>> {
  const control = await createControlOf(app, shared);
  opened.defer(() => control.close());
  const api = await createApiOf(app, { ...shared, control });
  opened.defer(() => api.close());
  return { control, api };
}

/**
 * Starts the threads that are needed now. They start before the first request, because a thread that starts without free
 * file descriptors cannot load its code.
 */
async function startThreads(
  app: App,
  { delivery, webhooks, routes, mailboxes, nameServer }: Threads,
): Promise<void> {
  await Promise.all([
    app.db.startReader(),
    delivery.start(),
    startWebhooksIfNeeded(app, webhooks),
    startPostsIfNeeded(app, routes),
    mailboxes.startIfNeeded(),
    nameServer.start(),
  ]);
}

/**
 * Ends the process when a thread dies that it cannot work without. Without the database every request would fail; a
 * supervisor can restart the daemon.
 */
function endOnFailure(app: App, partFailed: Promise<Error>): void {
  void partFailed.then((error) => {
    app.log.fatal({ err: error }, error instanceof ReplacedError ? error.message : 'a thread has died');
    process.exit(1);
  });
  void app.db.failed.then((error) => {
    const advice = adviseOnStorage(error, join(app.config.dataDir, 'postrider.db'));
    if (advice === undefined) app.log.fatal({ err: error }, 'a database thread has died');
    else app.log.fatal({ code: errorCode(error) }, `storage failed: ${advice}`);
    process.exit(1);
  });
}

function createApiOf(
  app: App,
  {
    webhooks,
    routes,
    mailboxes,
    imports,
    nameServer,
    delivery,
    censuses,
    certificates,
    control,
  }: Omit<Parts, 'api' | 'inbound'>,
): Promise<FastifyInstance> {
  return createApiServer(app, {
    operator: () => control,
    explainWaiting: delivery.explainWaiting,
    handOver: delivery.handOver,
    challenges: certificates.challenges,
    readDelivery: () => ({
      oldestDueMs: censuses.oldestDueMs,
      ...delivery.signs,
    }),
    webhookCalls: webhooks.calls,
    routeCalls: routes.calls,
    accounts: mailboxes.accounts,
    authenticate: mailboxes.authenticate,
    doThreadsRun: () =>
      [delivery, webhooks, routes, mailboxes, imports, nameServer].every(({ isRunning }) => isRunning),
  });
}

function createControlOf(
  app: App,
  { mailboxes: { accounts }, ...parts }: Omit<Parts, 'api' | 'inbound' | 'control'>,
): Promise<FastifyInstance> {
  const { contents: mailboxContents, repairs: mailboxRepairs } = accounts;
  return createControlServer(app, { ...parts, accounts, mailboxContents, mailboxRepairs });
}

/** Returns what runs the scripts of mailboxes that may refuse mail while it arrives. */
function scriptsOfMailboxes({ mailboxes }: Threads): MailboxScripts {
  return { mailboxDelivery: mailboxes.accounts, scriptRunner: mailboxes.scripts };
}

type Stoppable = { stop(graceMs: number): unknown };

/** Parts of the daemon that may run in threads of their own. */
type Threads = {
  delivery: Delivery;
  webhooks: PartThread<WebhookCalls>;
  routes: PartThread<RouteCalls>;
  mailboxes: Mailboxes;
  imports: PartThread<ImportCalls>;
  nameServer: NameServer;
};

/** Parts of the daemon that listeners need. */
type Parts = Threads & {
  certificates: Certificates;
  control: FastifyInstance;
  api: FastifyInstance;
  inbound: InboundApp;
  backups: Backups;
  standby: Standby;
  dnsUpdates: DnsUpdates;
  censuses: Censuses;
  trace: Traces;
  sites: Sites;
  replies: RepliesFile;
};

/**
 * Returns the parts that deliver mail, that post webhooks and received mail, and mailboxes, in threads of their own unless the caller has replaced a
 * part of the system: what replaces it cannot cross to a thread.
 */
function createThreads(app: App, certificates: Certificates, inThreads: boolean): Threads {
  const mailboxes = createMailboxes(app, certificates, { inThreads });
  return {
    delivery: createDelivery(app, { inThreads }),
    webhooks: createPart(app, WEBHOOK_PART, { inThreads }),
    routes: createPart(app, POST_PART, { inThreads }),
    mailboxes,
    imports: createImportReader(app, mailboxes.accounts, { inThreads }),
    nameServer: createNameServer(app, [certificates.records, mtaStsRecords(app.config)], { inThreads }),
  };
}

/** Kinds of imports and exports. */
const IMPORTS = { contacts: contactImport, suppressions: suppressionImport };
const EXPORTS = {
  contacts: contactExport,
  suppressions: suppressionExport,
  recipients: recipientExport,
  links: linkExport,
};

function startWorkers(
  app: App,
  {
    backups,
    standby,
    inbound,
    webhooks,
    routes,
    mailboxes,
    imports,
    certificates,
    dnsUpdates,
    nameServer,
    ...watched
  }: Parts,
): Stoppable[] {
  const { accounts, scripts: scriptRunner } = mailboxes;
  const { censuses, replies } = watched;
  const steps = entriesOf('retention').flatMap((createSteps) => createSteps(app));
  const parts = {
    ...inbound,
    backups,
    standby,
    replies,
    explainWaiting: watched.delivery.explainWaiting,
    censuses,
    postThread: routes,
    webhookThread: webhooks,
    mailboxes,
    accounts,
    mailboxDelivery: accounts,
    scriptRunner,
    importCalls: imports.calls,
    importHandlers: IMPORTS,
    exportHandlers: EXPORTS,
    certificates,
    moreRecords: [certificates.records, mtaStsRecords(app.config)],
    dnsUpdates,
    nameServer,
    resolvers: () => resolversInUse(app.config.dns.servers),
  };
  watchTasks(app);
  watchQueue(app, censuses);
  return [
    app.metrics.watchLoop(),
    app.disk.watch(),
    startInstallationWork(app, (setBack) => moveDueTimes(app, setBack)),
    startTasks(
      app,
      entriesOf('tasks').map((create) => create(parts)),
    ),
    backups,
    startWork(app, createBlobSweep(app)),
    ...entriesOf('works').map((create) => startWork<unknown>(app, create(parts))),
    startWork(app, createRetentionWork(app, steps)),
    ...(app.config.log.mail ? [startWork(app, createShedLog(app))] : []),
  ];
}

async function drain(
  app: App & AsyncDisposable,
  listeners: readonly Listener[],
  workers: readonly Stoppable[],
): Promise<void> {
  app.log.info({}, 'draining');
  try {
    await Promise.all([
      ...listeners.map((listener) => listener.close()),
      ...workers.map((worker) => worker.stop(DRAIN_MS)),
    ]);
  } finally {
    await app[Symbol.asyncDispose]();
  }
  app.log.info({}, 'stopped');
}
