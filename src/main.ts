/**
 * The composition root: it loads the app, starts listeners and workers, and drains them at the end. It lists
 * everything that the daemon consists of.
 */
import { join } from 'node:path';
import { createApiServer } from './api.ts';
import { type App, type OpenOptions, openApp } from './app.ts';
import { contactExport } from './audiences/contacts/export.ts';
import { contactImport } from './audiences/contacts/import.ts';
import { createAudienceSweep } from './audiences/worker.ts';
import { requireWritableFolders } from './blobs/files.ts';
import { createBlobSweep } from './blobs/worker.ts';
import type { Config } from './config.ts';
import { openControlSocket } from './control-socket.ts';
import { followClock, type MoveDueTimes, startInstallationWork } from './db/installation/worker.ts';
import { adviseOnStorage } from './db/storage-advice.ts';
import { moveDueChecks } from './domains/store.ts';
import { createDomainCheckWork, createDomainSweep } from './domains/worker.ts';
import { createIdempotencySweep } from './emails/worker.ts';
import { moveDueExports } from './exports/store.ts';
import { createExportSweep, startExports } from './exports/worker.ts';
import { createShedLog } from './http/shed-log.ts';
import { moveDueImports } from './imports/store.ts';
import { createImportSweep, startImports } from './imports/worker.ts';
import { createTrialWork } from './queue/held/trial.ts';
import { moveQueue } from './queue/set-back.ts';
import { createRecoveryWork, recoverQueue, startDelivering } from './queue/worker.ts';
import { createRetentionWork } from './retention/worker.ts';
import { suppressionExport } from './suppressions/export.ts';
import { suppressionImport } from './suppressions/import.ts';
import { errorCode } from './system/errors.ts';
import type { System } from './system/system.ts';
import { type RunningWork, startWork } from './system/worker.ts';
import { VERSION } from './version.ts';
import { createReplayWork } from './webhooks/deliveries/replay.ts';
import { createFanOutWork } from './webhooks/fan-out.ts';
import { moveWebhooks } from './webhooks/set-back.ts';
import { createDeliverySweep, createWebhookWork } from './webhooks/worker.ts';

export type Daemon = {
  /** URL that the API listens on, such as `http://127.0.0.1:8025`. */
  address: string;
  app: App;
  /** Accepts nothing new, waits up to 30 s for running work, and closes everything. */
  stop(): Promise<void>;
};

/** Moves the due times of every feature when the wall clock was set back. */
export const MOVES_OF_DUE_TIMES: readonly MoveDueTimes[] = [
  moveQueue,
  moveWebhooks,
  (db, setBack) => db.commit(moveDueImports, setBack),
  (db, setBack) => db.commit(moveDueExports, setBack),
  (db, setBack) => db.commit(moveDueChecks, setBack),
];

/**
 * Maximum time of a drain, in milliseconds: running transactions are completed, all other mail stays queued
 * (engine.md 4).
 */
const DRAIN_MS = 30_000;

/**
 * Starts the daemon. It resolves when the API listens and the workers run.
 * @throws the errors of `openApp`, ControlSocketError, and errors of the file system and of the network
 */
export async function startDaemon(
  config: Config,
  overrides: Partial<System> = {},
  options: OpenOptions = {},
): Promise<Daemon> {
  const app = await openApp(config, overrides, options);
  try {
    requireWritableFolders(app.config.dataDir);
    await followClock(app, MOVES_OF_DUE_TIMES);
    // All threads start before the first request, because a thread that starts without free file descriptors cannot
    // load its code.
    await Promise.all([recoverQueue(app), app.db.startReaders()]);
    const api = await createApiServer(app);
    const address = await api.listen({ host: config.http.address, port: config.http.port });
    const control = await openControlSocket(app).catch(async (error) => {
      await api.close();
      throw error;
    });
    const workers = [app.metrics.watchLoop(), app.disk.watch(), ...startWorkers(app)];
    endOnFailure(app);
    const { hostname, dataDir } = config;
    app.log.info({ address, hostname, dataDir, version: VERSION }, 'serving');
    return { address, app, stop: () => drain(app, [api, control], workers) };
  } catch (error) {
    await app[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Ends the process when a database thread dies. Without it every request would fail; a supervisor can restart the
 * daemon.
 */
function endOnFailure(app: App): void {
  void app.db.failed.then((error) => {
    const advice = adviseOnStorage(error, join(app.config.dataDir, 'postrider.db'));
    if (advice === undefined) app.log.fatal({ err: error }, 'a database thread has died');
    else app.log.fatal({ code: errorCode(error) }, `storage failed: ${advice}`);
    process.exit(1);
  });
}

function startWorkers(app: App): RunningWork[] {
  return [
    startInstallationWork(app, MOVES_OF_DUE_TIMES),
    startDelivering(app),
    startWork(app, createRecoveryWork(app)),
    startWork(app, createTrialWork(app)),
    startWork(app, createFanOutWork(app)),
    startWork(app, createWebhookWork(app)),
    startWork(app, createReplayWork(app)),
    startWork(app, createDeliverySweep(app)),
    startWork(app, createDomainCheckWork(app)),
    startWork(app, createDomainSweep(app)),
    startImports(app, { contacts: contactImport, suppressions: suppressionImport }),
    startWork(app, createImportSweep(app)),
    startExports(app, { contacts: contactExport, suppressions: suppressionExport }),
    startWork(app, createExportSweep(app)),
    startWork(app, createAudienceSweep(app)),
    startWork(app, createIdempotencySweep(app)),
    startWork(app, createBlobSweep(app)),
    startWork(app, createRetentionWork(app)),
    ...(app.config.log.mail ? [startWork(app, createShedLog(app))] : []),
  ];
}

async function drain(
  app: App & AsyncDisposable,
  listeners: readonly { close(): Promise<void> }[],
  workers: readonly { stop(graceMs: number): unknown }[],
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
