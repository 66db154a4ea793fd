/**
 * Runs imports from other servers as tasks. At most one import of each tenant runs at a time, so that a tenant with many imports
 * delays another one only by the runs that go on at the moment.
 */
import type { App } from '../app.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { jitter } from '../system/backoff.ts';
import { DAY_MS } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { periodic, type Work } from '../system/worker.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import type { TaskEnd } from '../tasks/store.ts';
import { readCounts } from './counts.ts';
import { openPassword } from './create.ts';
import { listErrors } from './error-store.ts';
import { type ImportCalls, INTERNAL_FAILURE, type RunEnd } from './run.ts';
import { clearSpools, spoolFolder } from './spool.ts';
import {
  beginRun,
  endImport,
  MAILBOX_IMPORTS,
  pauseImport,
  type RunningImport,
  sweepImports,
} from './store.ts';

/**
 * Maximum number of imports that run at the same time. Each has two batches in memory, usually 2 MiB each, and 11 MiB each when the other
 * server lies about the sizes (import-folder.ts, source/messages.ts).
 */
const MAX_RUNNING_IMPORTS = 4;
/** Delay after a run that was interrupted. It doubles with each further one. */
const MIN_RETRY_DELAY_MS = 10_000;
const MAX_RETRY_DELAY_MS = 1_800_000;
const RETRY_JITTER = 0.2;
/**
 * Imports under which the thread has ended go on at different times up to this delay, so that the one that ends it does so alone after a
 * while, and is then the one that has failed.
 */
const MAX_APART_MS = 900_000;
/** Number of interrupted runs in a row, none of which has imported a message, after which an import fails: about two hours. */
const MAX_FAILED_RUNS = 10;

/**
 * Maximum time from the first run to the end. A server whose UIDs change at each run would otherwise keep an import running without end.
 */
const MAX_AGE_DAYS = 7;

/**
 * Time after a refused login in which no other import of the tenant begins, so that nobody tries many passwords of a stranger from here,
 * for which other servers would block this one.
 */
const REFUSED_LOGIN_PAUSE_MS = 30_000;

/**
 * Time after an attempt that has imported nothing in which no other import of the tenant begins, so that nobody tries many hosts and ports
 * from here. The import itself waits longer.
 */
const LOST_SERVER_PAUSE_MS = 10_000;

/** Time after which an import of a suspended mailbox looks whether it still is. */
const SUSPENDED_DELAY_MS = 300_000;

/** Returns the imports as a kind of task, whose runs the reader takes. */
export function createImportKind(app: App, reader: ImportCalls): TaskKind {
  /** Ends of the pauses of tenants, on the monotonic clock, so that no jump of the wall clock prolongs one. */
  const pauses = new Map<string, number>();
  let running = 0;
  return {
    name: MAILBOX_IMPORTS,
    leavesHost: true,
    concurrency: MAX_RUNNING_IMPORTS,
    concurrencyPerQueue: 1,
    backOff: (attempts) => (attempts < MAX_FAILED_RUNS ? retryDelayMs(attempts) : undefined),
    prepare: () => clearSpools(app.config.dataDir),
    async rules(tenantId) {
      const leftMs = (pauses.get(tenantId) ?? 0) - app.clock.elapsed();
      if (leftMs > 0) return { pausedUntil: app.clock.now() + leftMs };
      pauses.delete(tenantId);
      return {};
    },
    async run(task) {
      const row = await app.db.commit(beginRun, { lease: leaseOf(task), now: app.clock.now() });
      if (!row) return 'done';
      running += 1;
      try {
        const end = await runUnlessSuspended(app, { reader, isAlone: () => running === 1 }, row);
        const pauseMs = pauseAfter(end);
        if (pauseMs > 0) pauses.set(row.tenantId, app.clock.elapsed() + pauseMs);
        const taskEnd = await settle(app, row, end);
        app.log.info({ importId: row.id, end: end.kind }, 'a run of an import of mail has ended');
        return taskEnd;
      } finally {
        running -= 1;
      }
    },
    giveUp(task) {
      const outcome = { status: 'failed', reason: 'internal', error: ENDED_AGAIN } as const;
      return app.db.commit(endImport, { lease: leaseOf(task), now: app.clock.now(), ...outcome });
    },
  };
}

const ENDED_AGAIN = 'The server ended again and again during the import';

/** Returns the time in which no other import of the tenant begins, in milliseconds. */
function pauseAfter(end: End): number {
  if (end.kind === 'failed' && end.reason === 'login_refused') return REFUSED_LOGIN_PAUSE_MS;
  return end.kind === 'interrupted' && !end.hasImported ? LOST_SERVER_PAUSE_MS : 0;
}

function retryDelayMs(failedRuns: number): number {
  return Math.min(MIN_RETRY_DELAY_MS * 2 ** failedRuns, MAX_RETRY_DELAY_MS);
}

/**
 * How a run has ended. `lost`: the thread has ended under several imports, and nobody knows under which one. `suspended`: the mailbox is
 * suspended.
 */
type End = RunEnd | { kind: 'lost'; error: string } | { kind: 'suspended' };

/** The thread that reads. `isAlone` returns true when no other run goes on. */
type Reader = { reader: ImportCalls; isAlone(): boolean };

/** Makes a run. For a suspended mailbox nothing is asked of the other server, and what a suspension interrupts is no failure of it. */
async function runUnlessSuspended(app: App, reader: Reader, row: RunningImport): Promise<End> {
  const isSuspended = async () => (await findMailboxById(app.db.read, row.mailboxId))?.status === 'suspended';
  if (await isSuspended()) return { kind: 'suspended' };
  const end = await runImport(app, reader, row);
  return end.kind === 'interrupted' && (await isSuspended()) ? { kind: 'suspended' } : end;
}

async function runImport(app: App, { reader, isAlone }: Reader, row: MailboxImportRow): Promise<End> {
  const { id, mailboxId, host, port, security, user } = row;
  try {
    const password = openPassword(app, row);
    const counts = readCounts(row);
    return await reader.runImport({
      id,
      mailboxId,
      settings: { host, port, security, user, password, hasLoggedIn: counts.folders > 0 },
      counts,
      failed: (await listErrors(app.db.read, id)).map(({ folder, uid }) => ({ folder, uid })),
      spoolFolder: spoolFolder(app.config.dataDir, id),
    });
  } catch (error) {
    // The thread has died, or the daemon stops.
    if (error instanceof AppError) {
      const { message } = error;
      return isAlone()
        ? { kind: 'interrupted', error: message, hasImported: false }
        : { kind: 'lost', error: message };
    }
    app.log.error({ err: error, importId: id }, 'an import of mail failed');
    return INTERNAL_FAILURE;
  }
}

const TOO_OLD = `The import has not ended within ${MAX_AGE_DAYS} days; another one goes on where it is`;

type FailureReason = MailboxImportRow['reason'];

/** Stores how a run has ended. */
async function settle(app: App, { lease, startedAt }: RunningImport, end: End): Promise<TaskEnd> {
  const now = app.clock.now();
  const { attempts } = lease;
  const fail = (reason: FailureReason, error: string) =>
    app.db.commit(endImport, { lease, now, status: 'failed', reason, error });
  const pause = (error: string | null, { delayMs, failedRuns }: { delayMs: number; failedRuns: number }) =>
    app.db.commit(pauseImport, { lease, error, dueAt: now + delayMs, attempts: failedRuns });
  const goesOn = end.kind !== 'completed' && end.kind !== 'failed' && end.kind !== 'stale';
  if (goesOn && now - (startedAt ?? now) >= MAX_AGE_DAYS * DAY_MS)
    return fail(end.kind === 'suspended' ? 'mailbox_suspended' : 'source_unavailable', TOO_OLD);
  switch (end.kind) {
    case 'stale':
      return 'stale';
    case 'completed':
      return app.db.commit(endImport, { lease, now, status: 'completed', reason: null, error: null });
    case 'failed':
      return fail(end.reason, end.error);
    case 'paused':
      return pause(null, { delayMs: 0, failedRuns: 0 });
    case 'lost': {
      const delayMs = Math.round(app.random() * MAX_APART_MS);
      return pause(end.error, { delayMs, failedRuns: attempts - 1 });
    }
    case 'suspended':
      return pause('The mailbox is suspended', { delayMs: SUSPENDED_DELAY_MS, failedRuns: attempts - 1 });
    case 'interrupted': {
      const failedRuns = end.hasImported ? 0 : attempts;
      if (failedRuns >= MAX_FAILED_RUNS) return fail('source_unavailable', end.error);
      return pause(end.error, {
        delayMs: jitter(app.random, retryDelayMs(failedRuns), RETRY_JITTER),
        failedRuns,
      });
    }
  }
}

/** Time for which an import that has ended is kept. Its owner reads its errors meanwhile. */
const KEPT_MS = 30 * DAY_MS;
const SWEEP_PERIOD_MS = 3_600_000;

/** Returns the work that removes imports that ended long ago. */
export function createImportSweep({ db, clock }: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(clock, {
    name: 'ended imports of mail',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const before = clock.now() - KEPT_MS;
      let removed: number;
      do {
        removed = await db.commit(sweepImports, { before });
      } while (removed > 0);
    },
  });
}
