/**
 * The app in a thread of its own: a part of the daemon that runs there has a system, a reading connection and the
 * master key like the main thread, and writes through the one writer thread.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { type App, systemOptions } from './app.ts';
import type { Config } from './config/config.ts';
import type { Access } from './db/access.ts';
import type { Db } from './db/database.ts';
import type { Read } from './db/operation.ts';
import { TableChanges } from './db/table-changes.ts';
import type { Tables } from './db/tables.ts';
import { openFromThread, type ThreadConnection } from './db/thread-access.ts';
import { realClock } from './system/clock.ts';
import { createMetrics } from './system/metrics.ts';
import { createSealer } from './system/seal.ts';
import { createSystem, type System } from './system/system.ts';
import { createPortCalls, servePortCalls } from './system/thread/calls.ts';
import type { Calls, Part, ThreadOptions } from './system/thread/part.ts';
import { serveThread, type ThreadHost } from './system/thread/serve.ts';
import { createThread, inThisThread, type PartThread } from './system/thread.ts';

/**
 * The value that a part receives. The app of the main thread is one too, so that a part runs in either. In a thread,
 * `runId` names this run of the thread, so that a new run takes over at once what the one before it has left leased. A vital
 * thread has only one run, which is that of the daemon.
 */
export type PartApp = System & Pick<App, 'config' | 'sealer' | 'runId'> & { db: Access<Tables> };

/**
 * The value of a part that also makes long reads, which run on the reader threads (the main thread asks them), and caches answers until
 * their rows change.
 */
export type QueryingApp = PartApp & { db: Pick<Db, 'query'> & { changes: Pick<TableChanges, 'count'> } };

/** The values that a new thread starts with. */
type SharedApp = {
  config: Config;
  runId: string;
  masterKey: KeyObject;
  database: ThreadConnection;
  /** Memory of the TableChanges of the database. */
  changes: SharedArrayBuffer;
  egress: SharedArrayBuffer;
  /** The port over which the functions of the main thread are called. */
  host: MessagePort;
};

/** Options of a part with its thread. */
type PartOptions = Omit<ThreadOptions, 'prepare'>;

/** A part with the main database. `host` has functions of the main thread. */
type DatabasePart<Functions extends Calls, Host extends Calls> = PartOptions & {
  start(app: QueryingApp, host: Host): Part<Functions>;
};

/** The function of the main thread that every part with the main database calls: it runs a long read on a reader thread. */
type QueryCalls = { query(read: { name: string; input: unknown }): Promise<unknown> };

type PartPlace<Host> = { inThreads: boolean } & (Calls extends Host ? { host?: Host } : { host: Host });

/** Returns a part, in a thread of its own or in this one. It starts at its first call, or at `start`. */
export function createPart<Functions extends Calls, Host extends Calls = Calls>(
  app: App,
  { start, ...thread }: DatabasePart<Functions, Host>,
  { inThreads, host = {} as Host }: PartPlace<Host>,
): PartThread<Functions> {
  if (!inThreads) return inThisThread(async () => start(app, host));
  const prepare = () => {
    const { config, egress, sealer } = app;
    const database = app.db.connectThread();
    const { port1, port2 } = new MessageChannel();
    servePortCalls(port1, { ...host, ...queryCalls(app) });
    const data: SharedApp = {
      config,
      runId: thread.isVital ? app.runId : randomUUID(),
      masterKey: sealer.key,
      database,
      changes: app.db.changes.memory,
      egress: egress.memory,
      host: port2,
    };
    return { data, transfer: [database.port, port2] };
  };
  return createThread<Functions>(app, { ...thread, prepare });
}

function queryCalls({ db }: Pick<App, 'db'>): QueryCalls {
  return { query: ({ name, input }) => db.query({ name } as Read<unknown, unknown>, input) };
}

/** Runs a part in this thread. The module of a thread calls it once, at its end. */
export function servePart<Host extends Calls>({
  start,
}: Pick<DatabasePart<Calls, Host>, 'start'>): Promise<void> {
  return serveThread(async (shared, host) => {
    const { config, runId, masterKey, database, changes, egress, host: port } = shared as SharedApp;
    const system = createThreadSystem(config, egress, host);
    const access = openFromThread<Tables>(system, database);
    const calls = createPortCalls<Host & QueryCalls>(port);
    const query: Db['query'] = <Input, Result>({ name }: Read<Input, Result>, input: Input) =>
      calls.query({ name, input }) as Promise<Result>;
    const db = { ...access, query, changes: new TableChanges(changes) };
    const part = start({ ...system, config, runId, db, sealer: createSealer(masterKey) }, calls);
    return watched(system, part, async () => {
      await access.close();
      port.close();
    });
  });
}

/** The value that a part without the main database receives. */
export type SystemApp = System & Pick<App, 'config'>;

/** A part without the main database. `host` has functions of the main thread, and `data` is what each start is given. */
type SystemPart<Functions extends Calls, Host extends Calls, Data> = PartOptions & {
  start(app: SystemApp, host: Host, data: Data): Promise<Part<Functions>>;
};

/** The port over which the functions of the main thread are called, and the data of the start. */
type Given<Data> = { port: MessagePort; data: Data };
type SharedSystem<Data> = { config: Config; egress: SharedArrayBuffer; given: Given<Data> };

type SystemPartOptions<Host, Data> = { inThreads: boolean; host: Host; data: () => Data };

/** Returns a part without the main database, in a thread of its own or in this one. It starts at its first call, or at `start`. */
export function createSystemPart<Functions extends Calls, Host extends Calls, Data>(
  app: App,
  { start, ...thread }: SystemPart<Functions, Host, Data>,
  { inThreads, host, data }: SystemPartOptions<Host, Data>,
): PartThread<Functions> {
  const give = (): Given<Data> => {
    const { port1, port2 } = new MessageChannel();
    servePortCalls(port1, host);
    return { port: port2, data: data() };
  };
  if (!inThreads) return inThisThread(() => startGiven(app, start, give()));
  const prepare = () => {
    const given = give();
    const { config, egress } = app;
    const shared: SharedSystem<Data> = { config, egress: egress.memory, given };
    return { data: shared, transfer: [given.port] };
  };
  return createThread<Functions>(app, { ...thread, prepare });
}

/** Runs a part without the main database in this thread. The module of a thread calls it once, at its end. */
export function serveSystemPart<Host extends Calls, Data>({
  start,
}: Pick<SystemPart<Calls, Host, Data>, 'start'>): Promise<void> {
  return serveThread(async (shared, host) => {
    const { config, egress, given } = shared as SharedSystem<Data>;
    const system = createThreadSystem(config, egress, host);
    return watched(system, await startGiven({ ...system, config }, start, given));
  });
}

async function startGiven<Functions extends Calls, Host extends Calls, Data>(
  app: SystemApp,
  start: SystemPart<Functions, Host, Data>['start'],
  { port, data }: Given<Data>,
): Promise<Part<Functions>> {
  const part = await start(app, createPortCalls<Host>(port), data);
  return {
    calls: part.calls,
    async stop(graceMs) {
      await part.stop(graceMs);
      port.close();
    },
  };
}

/** Returns the part with the metrics of its thread. */
function watched({ metrics }: System, part: Part<Calls>, close: () => Promise<void> = async () => {}) {
  const loop = metrics.watchLoop();
  return {
    ...part,
    metrics,
    async close() {
      loop.stop();
      await close();
    },
  };
}

function createThreadSystem(
  config: Config,
  egress: SharedArrayBuffer,
  { name, wakeups, openLog }: ThreadHost,
): System {
  return createSystem(
    { ...systemOptions(config), egress },
    { log: openLog(config.log.level), metrics: createMetrics(realClock, name), wakeups },
  );
}
