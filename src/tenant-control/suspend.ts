/**
 * Suspends and resumes tenants. While a tenant is suspended its keys are refused, the claim parks its mail when it is due, its broadcasts
 * wait, and people hand over no mail. They still read what they have and what arrives, and readers can unsubscribe. Resuming the tenant
 * undoes this: a task makes the parked mail due again, in slices.
 */
import type { App } from '../app.ts';
import { defineWrite } from '../db/operation.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { type UnparkCursor, unparkSlice } from '../queue/unpark.ts';
import { AppError } from '../system/errors.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import {
  cancelTask,
  completeTask,
  type Lease,
  retryTask,
  scheduleTask,
  type TaskEnd,
} from '../tasks/store.ts';
import { findTenantStatus, getTenant, setTenantStatus } from '../tenants/store.ts';

/** Kind of the tasks that make the mail of a resumed tenant due. The reference of a task is the tenant. */
export const RESUMPTIONS = 'tenant-resumptions';

/** Number of recipients in a slice. Each takes about a tenth of a millisecond of the writer. */
const ROWS = { first: 50, min: 10, max: 100 };
/** Pause after each slice, as a multiple of its duration: other writes have two thirds of the writer's time. */
const PAUSE_PER_SLICE = 2;
/** Delay after a slice that has failed, for example because the disk is full, in milliseconds. */
const RETRY_MS = 1_000;

type ByName = { tenant: string; now: number };

/**
 * Suspends a tenant, which is named by its id or its name, and returns it. A tenant that is suspended already stays so.
 * @throws AppError not_found; invalid_state while it is being deleted
 */
export const suspendTenant = defineWrite(
  'tenantControl.suspend',
  async (tx, { tenant: named }: Pick<ByName, 'tenant'>): Promise<TenantRow> => {
    const tenant = await getTenant(tx, named);
    requireNotDeleting(tenant);
    await setTenantStatus(tx, tenant.id, 'suspended');
    await cancelTask(tx, { kind: RESUMPTIONS, reference: tenant.id });
    return { ...tenant, status: 'suspended' };
  },
);

/**
 * Resumes a tenant, which is named by its id or its name, and returns it. An active one stays as it is.
 * @throws AppError not_found; invalid_state while it is being deleted
 */
export const resumeTenant = defineWrite(
  'tenantControl.resume',
  async (tx, { tenant: named, now }: ByName): Promise<TenantRow> => {
    const tenant = await getTenant(tx, named);
    requireNotDeleting(tenant);
    if (tenant.status === 'active') return tenant;
    await setTenantStatus(tx, tenant.id, 'active');
    // Each resumption has a queue of its own, by which its run knows that the cursor in memory is not that of an earlier one.
    const queueKey = `${tenant.id} ${now}`;
    const task = { kind: RESUMPTIONS, reference: tenant.id, queueKey, tenantId: tenant.id };
    await scheduleTask(tx, { ...task, dueAt: now });
    return { ...tenant, status: 'active' };
  },
);

function requireNotDeleting({ name, status }: TenantRow): void {
  if (status === 'deleting') throw new AppError('invalid_state', `The tenant ${name} is being deleted`);
}

type Resumption = {
  tenantId: TenantRow['id'];
  lease: Lease;
  after: UnparkCursor | undefined;
  now: number;
  rows: number;
  pauseMs: number;
};

type Resumed = { end: TaskEnd; next: UnparkCursor | undefined };

const resumeSlice = defineWrite(
  'tenantControl.resumeSlice',
  async (tx, { tenantId, lease, pauseMs, ...slice }: Resumption): Promise<Resumed> => {
    const isActive = (await findTenantStatus(tx, tenantId)) === 'active';
    const next = isActive ? await unparkSlice(tx, { tenantId, ...slice }) : undefined;
    if (next === undefined) return { next, end: await completeTask.run(tx, lease) };
    return { next, end: await retryTask.run(tx, { lease, dueAt: slice.now + pauseMs, attempts: 0 }) };
  },
  { priority: 'bulk' },
);

/**
 * Returns the resumptions as a kind of task: each run makes one slice. After a restart, a pass begins anew, as it does when the tenant was
 * suspended and resumed meanwhile: the claim may have parked mail behind the cursor.
 */
export function createResumptionKind(app: Pick<App, 'db' | 'clock' | 'wakeups'>): TaskKind {
  const size = new SliceSize(ROWS);
  const cursors = new Map<string, { queueKey: string; at: UnparkCursor }>();
  let pauseMs = 0;
  return {
    name: RESUMPTIONS,
    leavesHost: false,
    concurrency: 1,
    perFree: Number.POSITIVE_INFINITY,
    backOff: () => RETRY_MS,
    async run(task) {
      const begunAt = app.clock.elapsed();
      const { queueKey } = task;
      const tenantId = task.reference as TenantRow['id'];
      const known = cursors.get(tenantId);
      const after = known?.queueKey === queueKey ? known.at : undefined;
      const slice = { tenantId, after, now: app.clock.now(), rows: size.rows, pauseMs };
      const { end, next } = await app.db.commit(resumeSlice, { ...slice, lease: leaseOf(task) });
      if (next && end !== 'stale') cursors.set(tenantId, { queueKey, at: next });
      else cursors.delete(tenantId);
      for (const name of ['queue', 'suspects']) app.wakeups.notify(name);
      const tookMs = app.clock.elapsed() - begunAt;
      size.follow(tookMs);
      pauseMs = Math.round(PAUSE_PER_SLICE * tookMs);
      return end;
    },
  };
}
