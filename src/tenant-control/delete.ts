/**
 * Deletes a tenant with everything that it owns (owned.ts). From the first write on its keys and passwords are refused, its mail is neither
 * received nor sent, and its name and addresses become free as their rows go. A task deletes in slices, so that other writes wait only a
 * short time; a start after a crash begins with the first step again and finds what is left.
 */
import type { App } from '../app.ts';
import { discardAll } from '../blobs/discard-on-refusal.ts';
import { defineWrite } from '../db/operation.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import {
  cancelTask,
  completeTask,
  type Lease,
  retryTask,
  scheduleTask,
  type TaskEnd,
} from '../tasks/store.ts';
import { findTenantStatus, getTenant, removeTenant, setTenantStatus } from '../tenants/store.ts';
import type { ErasedMail } from './erase-mail-store.ts';
import { isHeldByRows } from './erase-store.ts';
import { OWNED } from './owned.ts';
import { RESUMPTIONS } from './suspend.ts';

/** Kind of the tasks that delete. The reference of a task is the tenant. */
const DELETIONS = 'tenant-deletions';

/** Number of rows in a slice, which takes a few milliseconds on an SSD, flush included. The minimum is ten messages with their rows. */
const ROWS = { first: 160, min: 80, max: 400 };
/** Pause after each slice, as a multiple of its duration: other writes have two thirds of the writer's time. */
const PAUSE_PER_SLICE = 2;
const MIN_PAUSE_MS = 5;
/** Delay after a slice that has failed, for example because the disk is full, in milliseconds. */
const RETRY_MS = 1_000;
/** Time after which mail that was being sent is looked at again, and a tenant to which something was added meanwhile, in milliseconds. */
const WAIT_MS = 2_000;

/**
 * Begins the deletion of a tenant, which is named by its id or its name, and returns it. One that has begun goes on.
 * @throws AppError not_found
 */
export const beginDeletion = defineWrite(
  'tenantControl.beginDeletion',
  async (tx, { tenant: named, now }: { tenant: string; now: number }): Promise<TenantRow> => {
    const tenant = await getTenant(tx, named);
    await setTenantStatus(tx, tenant.id, 'deleting');
    await cancelTask(tx, { kind: RESUMPTIONS, reference: tenant.id });
    // The task is not one of the tenant, which would cancel it.
    const task = { kind: DELETIONS, reference: tenant.id, queueKey: tenant.id, tenantId: null };
    await scheduleTask(tx, { ...task, dueAt: now });
    return { ...tenant, status: 'deleting' };
  },
);

/** How far a deletion has come: the step, and where its next slice begins. */
type Place = { step: number; after: string };
const BEGINNING: Place = { step: 0, after: '' };

type Slice = {
  tenantId: TenantRow['id'];
  lease: Lease;
  at: Place;
  now: number;
  rows: number;
  /** Pause before the next slice, in milliseconds. */
  pauseMs: number;
};

type Deleted = Pick<ErasedMail, 'files'> & {
  end: TaskEnd;
  /** Undefined once the tenant is gone. */
  at: Place | undefined;
};

/** Deletes the next rows of a tenant, and the tenant itself when nothing is left. */
const eraseSlice = defineWrite(
  'tenantControl.erase',
  async (tx, { tenantId, lease, at, pauseMs, ...slice }: Slice): Promise<Deleted> => {
    const goOn = async (next: Place, delayMs: number, files: ErasedMail['files'] = []) => ({
      files,
      at: next,
      end: await retryTask.run(tx, { lease, dueAt: slice.now + delayMs, attempts: 0 }),
    });
    for (const [step, { erase }] of [...OWNED.entries()].slice(at.step)) {
      const after = step === at.step ? at.after : '';
      const { deleted, next, files, isWaiting } = await erase(tx, { tenantId, after, ...slice });
      if (isWaiting) return goOn({ step, after: '' }, WAIT_MS);
      if (next !== undefined) return goOn({ step, after: next }, pauseMs, files);
      if (deleted > 0) return goOn({ step: step + 1, after: '' }, pauseMs, files);
    }
    if (await isHeldByRows(tx, tenantId)) return goOn(BEGINNING, WAIT_MS);
    if ((await findTenantStatus(tx, tenantId)) === 'deleting') await removeTenant(tx, tenantId);
    return { at: undefined, end: await completeTask.run(tx, lease) };
  },
  {
    priority: 'bulk',
    crashPoints: { beforeCommit: 'tenant-erase-before-commit', afterCommit: 'tenant-erase-after-commit' },
  },
);

type DeletionApp = Pick<App, 'blobs' | 'clock' | 'crashPoint' | 'db' | 'log' | 'wakeups'>;

/** Returns the deletions as a kind of task: each run makes one slice. */
export function createDeletionKind(app: DeletionApp): TaskKind {
  const { blobs, clock, db, log } = app;
  const size = new SliceSize(ROWS);
  const places = new Map<string, Place>();
  let pauseMs = MIN_PAUSE_MS;
  return {
    name: DELETIONS,
    leavesHost: false,
    concurrency: 1,
    perFree: Number.POSITIVE_INFINITY,
    backOff: () => RETRY_MS,
    async run(task) {
      const begunAt = clock.elapsed();
      const tenantId = task.reference as TenantRow['id'];
      const at = places.get(tenantId) ?? BEGINNING;
      const slice = { tenantId, at, now: clock.now(), rows: size.rows, pauseMs, lease: leaseOf(task) };
      const erased = await db.commit(eraseSlice, slice);
      const tookMs = clock.elapsed() - begunAt;
      app.crashPoint('tenant-erase-before-files');
      await discardAll(blobs, erased.files ?? []);
      if (erased.at && erased.end !== 'stale') places.set(tenantId, erased.at);
      else places.delete(tenantId);
      if (!erased.at) {
        log.info({ tenantId }, 'a tenant was deleted with everything that it owned');
        for (const name of ['tenants', 'logins', 'outbound-routes']) app.wakeups.notify(name);
      }
      size.follow(tookMs);
      pauseMs = Math.max(MIN_PAUSE_MS, Math.round(PAUSE_PER_SLICE * tookMs));
      return erased.end;
    },
  };
}
