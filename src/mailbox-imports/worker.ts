/**
 * The background work of imports from other servers. At most one import of each tenant runs at a time, and tenants are served
 * round-robin, so that a tenant with many imports delays another one only by the turns that run.
 */
import type { App } from '../app.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import { TenantOrder } from '../jobs/tenant-order.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { jitter } from '../system/backoff.ts';
import { DAY_MS } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { periodic, type Work } from '../system/worker.ts';
import { readCounts } from './counts.ts';
import { listErrors } from './error-store.ts';
import { openPassword } from './password.ts';
import { clearSpools, spoolFolder } from './spool.ts';
import { endImport, leaseImports, listWaiting, pauseImport, releaseImports, sweepImports } from './store.ts';
import { type ImportCalls, INTERNAL_FAILURE, type TurnEnd } from './turn.ts';

/**
 * Maximum number of imports that run at the same time. Each has two batches in memory, usually 2 MiB each, and 11 MiB each when the other
 * server lies about the sizes (import-folder.ts, source/messages.ts). Our own limit.
 */
const MAX_RUNNING_IMPORTS = 4;
/** Length of a lease, which each report of the progress extends. After a crash the next start releases all leases. */
export const LEASE_MS = 60_000;
/** Delay after a turn that was interrupted. It doubles with each further one. Our own values. */
const MIN_RETRY_DELAY_MS = 10_000;
const MAX_RETRY_DELAY_MS = 1_800_000;
const RETRY_JITTER = 0.2;
/**
 * Imports under which the thread has ended go on at different times up to this delay, so that the one that ends it does so alone after a
 * while, and is then the one that has failed. Our own value.
 */
const MAX_APART_MS = 900_000;
/** Number of interrupted turns in a row, none of which has imported a message, after which an import fails: about two hours. */
const MAX_FAILED_TURNS = 10;

/**
 * Maximum time from the first turn to the end. A server whose UIDs change at each turn would otherwise keep an import running without end.
 * Our own limit.
 */
const MAX_AGE_DAYS = 7;

/**
 * Time after a refused login in which no other import of the tenant begins, so that nobody tries many passwords of a stranger from here,
 * for which other servers would block this one. Our own limit.
 */
const REFUSED_LOGIN_PAUSE_MS = 30_000;

/**
 * Time after an attempt that has imported nothing in which no other import of the tenant begins, so that nobody tries many hosts and ports
 * from here. The import itself waits longer. Our own limit.
 */
const LOST_SERVER_PAUSE_MS = 10_000;

/** Time after which an import of a suspended mailbox looks whether it still is. Our own value. */
const SUSPENDED_DELAY_MS = 300_000;

type WorkerApp = Pick<App, 'db' | 'clock' | 'log' | 'random' | 'sealer' | 'config' | 'wakeups'>;

/** Returns the work that lets imports take turns in the thread that reads. */
export function createImportWork(app: WorkerApp, reader: ImportCalls): Work<MailboxImportRow> {
  const tenants = new TenantOrder();
  let isReleased = false;
  let running = 0;

  function endTurn(tenantId: MailboxImportRow['tenantId'], delayMs: number): void {
    const end = () => {
      tenants.end(tenantId);
      app.wakeups.notify('mailboxImports');
    };
    if (delayMs === 0) end();
    else app.clock.after(delayMs, end);
  }

  return {
    name: 'imports of mail',
    wakeOn: ['mailboxImports'],
    concurrency: MAX_RUNNING_IMPORTS,
    async lease(limit) {
      const now = app.clock.now();
      if (!isReleased) {
        await clearSpools(app.config.dataDir);
        await app.db.commit(releaseImports, { now, delayMs: MIN_RETRY_DELAY_MS });
      }
      isReleased = true;
      const tenantIds = tenants.choose(await listWaiting(app.db.read), { now, limit });
      if (tenantIds.length === 0) return { items: [], nextDueAt: tenants.nextDueAt() };
      const items = await app.db.commit(leaseImports, { tenantIds, now, until: now + LEASE_MS });
      for (const { tenantId } of items) tenants.begin(tenantId);
      return { items, nextDueAt: tenants.nextDueAt() };
    },
    async run(row) {
      let pauseMs = 0;
      running += 1;
      try {
        const end = await takeTurnUnlessSuspended(app, { reader, isAlone: () => running === 1 }, row);
        // When this write fails, the import falls due when its lease ends.
        await settle(app, row, end);
        if (end.kind === 'failed' && end.reason === 'login_refused') pauseMs = REFUSED_LOGIN_PAUSE_MS;
        if (end.kind === 'interrupted' && !end.hasImported) pauseMs = LOST_SERVER_PAUSE_MS;
        app.log.info({ importId: row.id, end: end.kind }, 'a turn of an import of mail has ended');
      } finally {
        running -= 1;
        endTurn(row.tenantId, pauseMs);
      }
    },
  };
}

/**
 * How a turn has ended. `lost`: the thread has ended under several imports, and nobody knows under which one. `suspended`: the mailbox is
 * suspended.
 */
type End = TurnEnd | { kind: 'lost'; error: string } | { kind: 'suspended' };

/** The thread that reads. `isAlone` returns true when no other turn runs. */
type Reader = { reader: ImportCalls; isAlone(): boolean };

/** Takes a turn. For a suspended mailbox nothing is asked of the other server, and what a suspension interrupts is no failure of it. */
async function takeTurnUnlessSuspended(app: WorkerApp, reader: Reader, row: MailboxImportRow): Promise<End> {
  const isSuspended = async () => (await findMailboxById(app.db.read, row.mailboxId))?.status === 'suspended';
  if (await isSuspended()) return { kind: 'suspended' };
  const end = await takeTurn(app, reader, row);
  return end.kind === 'interrupted' && (await isSuspended()) ? { kind: 'suspended' } : end;
}

async function takeTurn(app: WorkerApp, { reader, isAlone }: Reader, row: MailboxImportRow): Promise<End> {
  const { id, mailboxId, host, port, security, user } = row;
  if (row.failedTurns > MAX_FAILED_TURNS)
    return {
      kind: 'failed',
      reason: 'internal',
      error: 'The server ended again and again during the import',
    };
  try {
    const password = openPassword(app, row);
    const counts = readCounts(row);
    return await reader.takeTurn({
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

/** Stores how a turn has ended. */
async function settle(app: WorkerApp, row: MailboxImportRow, end: End): Promise<void> {
  const { id } = row;
  const now = app.clock.now();
  const fail = (reason: FailureReason, error: string) =>
    app.db.commit(endImport, { id, now, status: 'failed', reason, error });
  const goesOn = end.kind !== 'completed' && end.kind !== 'failed' && end.kind !== 'stale';
  if (goesOn && now - (row.startedAt ?? now) >= MAX_AGE_DAYS * DAY_MS)
    return fail(end.kind === 'suspended' ? 'mailbox_suspended' : 'source_unavailable', TOO_OLD);
  switch (end.kind) {
    case 'stale':
      return;
    case 'completed':
      return app.db.commit(endImport, { id, now, status: 'completed', reason: null, error: null });
    case 'failed':
      return fail(end.reason, end.error);
    case 'paused':
      return app.db.commit(pauseImport, { id, error: null, failedTurns: 0, dueAt: now });
    case 'lost': {
      const dueAt = now + Math.round(app.random() * MAX_APART_MS);
      return app.db.commit(pauseImport, { id, error: end.error, failedTurns: row.failedTurns - 1, dueAt });
    }
    case 'suspended':
      return app.db.commit(pauseImport, {
        id,
        error: 'The mailbox is suspended',
        failedTurns: row.failedTurns - 1,
        dueAt: now + SUSPENDED_DELAY_MS,
      });
    case 'interrupted': {
      const { error } = end;
      const failedTurns = end.hasImported ? 0 : row.failedTurns;
      if (failedTurns >= MAX_FAILED_TURNS) return fail('source_unavailable', error);
      const delayMs = Math.min(MIN_RETRY_DELAY_MS * 2 ** failedTurns, MAX_RETRY_DELAY_MS);
      const dueAt = now + jitter(app.random, delayMs, RETRY_JITTER);
      return app.db.commit(pauseImport, { id, error, failedTurns, dueAt });
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
