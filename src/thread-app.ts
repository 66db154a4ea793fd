/**
 * The app in a thread of its own: a part of the daemon that runs there has a system, a reading connection and the
 * master key like the main thread, and writes through the one writer thread.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import { type App, systemOptions } from './app.ts';
import type { Config } from './config/config.ts';
import type { Access } from './db/access.ts';
import type { Tables } from './db/tables.ts';
import { openFromThread, type ThreadConnection } from './db/thread-access.ts';
import { realClock } from './system/clock.ts';
import { createLog } from './system/log.ts';
import { createMetrics } from './system/metrics.ts';
import { createSealer } from './system/seal.ts';
import { createSystem, type System } from './system/system.ts';
import type { Calls, Part, ThreadOptions, ThreadSystem } from './system/thread/part.ts';
import { serveThread, type ThreadHost } from './system/thread/serve.ts';
import { createLazyThread, type LazyThread, type PartThread, startThread } from './system/thread.ts';

/**
 * The value that a part receives. The app of the main thread is one too, so that a part runs in either. In a thread,
 * `runId` names this run of the thread, so that a new run takes over at once what the one before it has left leased.
 */
export type PartApp = System & Pick<App, 'config' | 'sealer' | 'runId'> & { db: Access<Tables> };

/** The values that a new thread starts with. */
type SharedApp = {
  config: Config;
  runId: string;
  masterKey: KeyObject;
  database: ThreadConnection;
};

/**
 * Starts a part in a thread. It resolves when the part runs.
 * @throws the error for which the thread could not start
 */
export function startPartThread<Functions extends Calls>(
  app: App,
  options: Omit<ThreadOptions, 'prepare'>,
): Promise<PartThread<Functions>> {
  return startThread<Functions>(app, { ...options, prepare: () => shareApp(app) });
}

/** Returns a part whose thread starts at the first of these calls, or at `start`. */
export function createLazyPartThread<Functions extends Calls>(
  app: App,
  options: Omit<ThreadOptions, 'prepare'>,
  calls: readonly (keyof Functions & string)[],
): LazyThread<Functions> {
  return createLazyThread<Functions>(app, { ...options, prepare: () => shareApp(app) }, calls);
}

function shareApp({ db, config, sealer }: App): ReturnType<ThreadOptions['prepare']> {
  const database = db.connectThread();
  const data: SharedApp = { config, runId: randomUUID(), masterKey: sealer.key, database };
  return { data, transfer: [database.port] };
}

/** The value that a part without the main database receives. */
export type SystemApp = System & Pick<App, 'config'>;

/** The values that such a thread starts with, with those of the part itself. */
type SharedSystem = { config: Config; own: unknown };

/** Returns a part without the main database, whose thread starts at the first of these calls, or at `start`. */
export function createLazySystemThread<Functions extends Calls>(
  app: ThreadSystem & Pick<App, 'config'>,
  options: ThreadOptions,
  calls: readonly (keyof Functions & string)[],
): LazyThread<Functions> {
  const prepare = () => {
    const { data: own, transfer } = options.prepare();
    return { data: { config: app.config, own } satisfies SharedSystem, transfer };
  };
  return createLazyThread<Functions>(app, { ...options, prepare }, calls);
}

/**
 * Runs a part without the main database in this thread. The module of a thread calls it once, at its end. `data` is what the
 * part's own `prepare` has returned.
 */
export function serveSystemPart(
  start: (app: SystemApp, data: unknown) => Promise<Part<Calls>>,
): Promise<void> {
  return serveThread(async (shared, host) => {
    const { config, own } = shared as SharedSystem;
    const system = createThreadSystem(config, host);
    const loop = system.metrics.watchLoop();
    return {
      ...(await start({ ...system, config }, own)),
      metrics: system.metrics,
      close: async () => loop.stop(),
    };
  });
}

/** Runs a part in this thread. The module of a thread calls it once, at its end. */
export function servePart(start: (app: PartApp) => Part<Calls>): Promise<void> {
  return serveThread(async (data, host) => {
    const { config, runId, masterKey, database } = data as SharedApp;
    const system = createThreadSystem(config, host);
    const db = openFromThread<Tables>(system, database);
    const loop = system.metrics.watchLoop();
    const part = start({ ...system, config, runId, db, sealer: createSealer(masterKey) });
    return {
      ...part,
      metrics: system.metrics,
      async close() {
        loop.stop();
        await db.close();
      },
    };
  });
}

function createThreadSystem(config: Config, { name, wakeups, writeLine }: ThreadHost): System {
  return createSystem(systemOptions(config), {
    log: createLog(config.log.level, { write: writeLine }),
    metrics: createMetrics(realClock, name),
    wakeups,
  });
}
