/** Makes one run of an import: it connects to the other server and imports its folders, until all are done or the run is over. */

import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import type { System } from '../system/system.ts';
import { concernsFolder, createSourceIds, importFolder, MAX_MESSAGE_MS, type Run } from './import-folder.ts';
import { INTERNAL_FAILURE, type RunEnd, type RunRequest, type TargetCalls } from './run.ts';
import { RunProgress, StaleImportError } from './run-progress.ts';
import { connectSource, type SourceConnection } from './source/connection.ts';
import { listSourceFolders } from './source/folders.ts';
import { CommandRefused, SourceError } from './source/source-error.ts';
import { Spool } from './spool.ts';

/** Time between two reports, each of which extends the lease and tells whether the import was deleted. */
const WATCH_INTERVAL_MS = 10_000;

type Watched = {
  progress: Pick<RunProgress, 'report'>;
  /** Time after which the run is ended. */
  maxMs: number;
  /** Ends what the run waits for. */
  onEnd(): void;
};

type RunWatch = {
  /** Why the run was ended; undefined while it may go on. */
  readonly failure: Error | undefined;
  stop(): void;
};

/** Parts of the thread in which imports run. */
type RunParts = {
  target: TargetCalls;
  isStopping(): boolean;
  /** Receives what the run waits for. Closing it while the part stops ends the run. */
  onConnection(connection: Pick<SourceConnection, 'close'>): void;
};

/**
 * Time after which a run ends and others have theirs, in milliseconds. It may finish the message that it reads, which takes at most
 * `MAX_MESSAGE_MS` more.
 */
const MAX_RUN_MS = 600_000;

/**
 * Maximum number of further sessions of a run. Each message with which a server ends the session costs one or two, so a folder may have
 * some dozen of them.
 */
const MAX_RECONNECTS = 50;

/** Maximum number of folders of an import, each of which costs a write. A mailbox remembers as many (folder-store.ts). */
const MAX_FOLDERS = 10_000;

/** Makes a run. It never rejects. */
export async function runImport(
  app: Pick<System, 'clock' | 'dns' | 'targets' | 'dial' | 'log'>,
  request: RunRequest,
  parts: RunParts,
): Promise<RunEnd> {
  const { clock } = app;
  const progress = new RunProgress(clock, parts.target, request);
  const endsAt = clock.elapsed() + MAX_RUN_MS;
  const spool = new Spool(request.spoolFolder);
  let connection: SourceConnection | undefined;
  const ending = new AbortController();
  parts.onConnection({ close: () => ending.abort() });
  const watch = watchRun(clock, {
    progress,
    maxMs: MAX_RUN_MS + MAX_MESSAGE_MS,
    onEnd() {
      ending.abort();
      connection?.close();
    },
  });
  try {
    await spool.clear();
    // Nothing is asked of the server when the import was deleted or its mailbox is suspended.
    await progress.report();
    const connect = async (): Promise<SourceConnection> => {
      connection?.close();
      connection = await connectSource(app, request.settings, ending.signal);
      parts.onConnection(connection);
      if (watch.failure) throw watch.failure;
      return connection;
    };
    let current = await connect();
    const { target } = parts;
    const ids = createSourceIds(request.settings);
    const isOver = () => parts.isStopping() || watch.failure !== undefined || clock.elapsed() >= endsAt;
    let reconnects = 0;
    const isDone = await importAll({
      clock,
      request,
      target,
      progress,
      spool,
      ids,
      isOver,
      get connection() {
        return current;
      },
      async reconnect(cause) {
        if (isOver() || reconnects === MAX_RECONNECTS) throw cause;
        reconnects += 1;
        current = await connect();
      },
    });
    if (isDone) progress.complete();
    await progress.report();
    return { kind: isDone ? 'completed' : 'paused' };
  } catch (caught) {
    // The watch closes the session, and only it knows why.
    const error = caught instanceof SourceError ? (watch.failure ?? caught) : caught;
    if (!(error instanceof StaleImportError)) await progress.report().catch(() => {});
    if (parts.isStopping()) return { kind: 'paused' };
    const end = endOf(error, progress.hasImported);
    if (!end) app.log.error({ err: error, importId: request.id }, 'an import of mail failed');
    return end ?? INTERNAL_FAILURE;
  } finally {
    watch.stop();
    connection?.close();
    await spool.clear().catch(() => {});
  }
}

/** Imports all folders. Returns false when the run was over before. */
async function importAll(run: Run): Promise<boolean> {
  const { connection, target, progress, request } = run;
  const targets = await target.listTargets({ mailboxId: request.mailboxId });
  const listed = await listSourceFolders(connection, targets);
  const folders = listed.slice(0, MAX_FOLDERS);
  const leftOut = listed[MAX_FOLDERS];
  if (leftOut)
    progress.fail(
      leftOut.path,
      0,
      `The first ${MAX_FOLDERS} folders are imported, and not this one and others`,
    );
  progress.countFolders(folders.length);
  for (const folder of folders) {
    if (run.isOver()) return false;
    try {
      if (!(await importFolder(run, folder))) return false;
    } catch (error) {
      if (!concernsFolder(error)) throw error;
      progress.fail(folder.path, 0, error.message);
    }
    progress.endFolder();
    await progress.reportSometimes();
  }
  return true;
}

/** Returns how the run ends after this error; undefined for a bug. */
function endOf(error: unknown, hasImported: boolean): RunEnd | undefined {
  if (error instanceof StaleImportError) return { kind: 'stale' };
  if (error instanceof CommandRefused)
    return {
      kind: 'failed',
      reason: 'source_refused',
      error: `The server refuses a command: ${error.message}`,
    };
  if (error instanceof SourceError) {
    const { fault, message } = error;
    if (fault === 'source_unavailable') return { kind: 'interrupted', error: message, hasImported };
    return { kind: 'failed', reason: fault, error: message };
  }
  if (!(error instanceof AppError)) return undefined;
  // The mailbox was deleted, and its imports with it.
  if (error.code === 'not_found') return { kind: 'stale' };
  if (error.code === 'invalid_state') return { kind: 'failed', reason: 'mailbox_full', error: error.message };
  return { kind: 'interrupted', error: error.message, hasImported };
}

/** Ends a run that takes too long, and one whose import was deleted. */
export function watchRun(clock: Clock, { progress, maxMs, onEnd }: Watched): RunWatch {
  let failure: Error | undefined;
  let isStopped = false;
  const end = (cause: Error): void => {
    if (isStopped) return;
    failure ??= cause;
    onEnd();
  };
  const deadline = clock.after(maxMs, () => {
    end(new SourceError('source_unavailable', 'The server is too slow'));
  });
  const wait = () =>
    clock.after(WATCH_INTERVAL_MS, () => {
      progress.report().then(() => {
        if (!isStopped) timer = wait();
      }, end);
    });
  let timer = wait();
  return {
    get failure() {
      return failure;
    },
    stop() {
      isStopped = true;
      deadline.cancel();
      timer.cancel();
    },
  };
}
