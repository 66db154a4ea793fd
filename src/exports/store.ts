/** Stores exports. All SQL of this table is here, and nothing else writes it. Live and test keys share exports. */
import { sql } from 'kysely';
import { emptyBlob, insertBlob, type StoredBytes } from '../blobs/store.ts';
import type { SetBack } from '../db/due-times.ts';
import type { ExportRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { BlobRow } from '../db/tables.ts';
import type { Deferral, Lease, WaitingTenant } from '../imports/jobs.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';

type TenantId = ExportRow['tenantId'];
type AudienceId = NonNullable<ExportRow['audienceId']>;
type CompletedExport = ExportRow & { blobId: BlobRow['id'] };

/** Maximum number of queued or running exports per tenant. */
export const MAX_WAITING = 10;
/** Maximum number of exports per tenant, ended ones included. Each keeps a file for a week. Our own limit. */
export const MAX_KEPT = 100;
/** Maximum size of the files of one tenant together, without the file that is being written. Our own limit. */
export const MAX_KEPT_GIB = 1;
export const MAX_KEPT_BYTES = MAX_KEPT_GIB * 1024 ** 3;

/**
 * Stores a new export.
 * @throws AppError validation_error when a maximum is reached
 */
export const insertExport = defineWrite('exports.insert', async (tx, job: ExportRow) => {
  const ofTenant = tx
    .selectFrom('exports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenantId', '=', job.tenantId);
  const kept = await ofTenant.executeTakeFirstOrThrow();
  const waiting = await ofTenant.where('dueAt', 'is not', null).executeTakeFirstOrThrow();
  if (waiting.count >= MAX_WAITING) {
    throw limitReached('exports that have not ended', waiting.count, 'try again when one has');
  }
  if (kept.count >= MAX_KEPT) {
    throw limitReached('exports', kept.count, 'delete some, or wait: each goes 7 days after it has ended');
  }
  await requireRoom(tx, job.tenantId);
  await tx.insertInto('exports').values(job).execute();
});

/**
 * Checks that a file may be added. It is checked when an export is requested, and again before its file is written.
 * @throws AppError validation_error when the files have their maximum size together
 */
export async function requireRoom(tx: Tx, tenantId: TenantId): Promise<void> {
  const { bytes } = await tx
    .selectFrom('exports')
    .select(({ fn }) => fn.sum<number | null>('sizeBytes').as('bytes'))
    .where('tenantId', '=', tenantId)
    .executeTakeFirstOrThrow();
  if ((bytes ?? 0) < MAX_KEPT_BYTES) return;
  const message = `The files of all exports have ${MAX_KEPT_GIB} GiB together, as much as they may; delete some, or wait: each goes 7 days after it has ended`;
  throw new AppError('validation_error', message);
}

const byId = statement((db, param: Param<Pick<ExportRow, 'tenantId' | 'id'>>) =>
  db
    .selectFrom('exports')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id')),
);

/**
 * Returns an export.
 * @throws AppError not_found, also for the export of another tenant
 */
export async function getExport(tx: Tx, tenantId: TenantId, id: string): Promise<ExportRow> {
  const job = await byId.first(tx, { tenantId, id: id as ExportRow['id'] });
  if (!job) throw notFound('Export');
  return job;
}

const audienceOf = statement((db, param: Param<{ tenantId: TenantId; id: AudienceId }>) =>
  db
    .selectFrom('audiences')
    .select('id')
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id'))
    .where('deletedAt', 'is', null),
);

/**
 * Returns a completed export for its file. The file of a deleted audience is no longer available.
 *
 * @throws AppError not_found, also for the file of a deleted audience; invalid_state while there is no file
 */
export async function getCompleted(tx: Tx, tenantId: TenantId, id: string): Promise<CompletedExport> {
  const { blobId, ...job } = await getExport(tx, tenantId, id);
  if (blobId === null) {
    throw new AppError('invalid_state', `The export is ${job.status}; it has a file once it has completed`);
  }
  const { audienceId } = job;
  if (audienceId === null || (await audienceOf.first(tx, { tenantId, id: audienceId }))) {
    return { ...job, blobId };
  }
  throw notFound('Export');
}

export type ExportList = PageRequest & {
  status?: ExportRow['status'] | undefined;
  kind?: ExportRow['kind'] | undefined;
  audienceId?: string | undefined;
};

/**
 * Returns a page of exports, newest first. The filters have no index, since a tenant has at most `MAX_KEPT` exports.
 */
export function listExports(
  tx: Tx,
  tenantId: TenantId,
  { status, audienceId, kind, ...page }: ExportList,
): Promise<Page<ExportRow>> {
  const everyOne = tx.selectFrom('exports').selectAll().where('tenantId', '=', tenantId);
  const all = status === undefined ? everyOne : everyOne.where('status', '=', status);
  const ofKind = kind === undefined ? all : all.where('kind', '=', kind);
  const wanted =
    audienceId === undefined
      ? ofKind
      : ofKind.where('audienceId', '=', audienceId as ExportRow['audienceId']);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

/** Returns the tenants with exports that have not ended, each with the time at which the first of them is due. */
export function listWaiting(tx: Tx): Promise<WaitingTenant[]> {
  return tx
    .selectFrom('exports')
    .select((select) => ['tenantId', select.fn.min<number>('dueAt').as('dueAt')])
    .where('dueAt', 'is not', null)
    .groupBy('tenantId')
    .execute();
}

const firstDue = statement((db, param: Param<{ tenantId: TenantId; now: number }>) =>
  db
    .selectFrom('exports')
    .selectAll()
    .where('tenantId', '=', constant(param('tenantId')))
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .orderBy('id')
    .limit(1),
);

/** Leases the first due export of each tenant. */
export const leaseExports = defineWrite(
  'exports.lease',
  async (tx, { tenantIds, now, until }: Lease): Promise<ExportRow[]> => {
    const leased: ExportRow[] = [];
    for (const tenantId of tenantIds) {
      const job = await firstDue.first(tx, { tenantId, now });
      if (!job) continue;
      const change = { status: 'running', dueAt: until, startedAt: job.startedAt ?? now } as const;
      await tx.updateTable('exports').set(change).where('id', '=', job.id).execute();
      leased.push({ ...job, ...change });
    }
    return leased;
  },
);

/** Makes the exports due again that an earlier start of the daemon was running. Returns their number. */
export const releaseExports = defineWrite('exports.release', async (tx, { now }: { now: number }) => {
  const released = await tx
    .updateTable('exports')
    .set({ dueAt: now })
    .where('dueAt', 'is not', null)
    .where('status', '=', 'running')
    .returning('id')
    .execute();
  return released.length;
});

/** Moves due times, and the ends of leases, when the wall clock was set back. */
export const moveDueExports = defineWrite('exports.moveDue', async (tx, { now, setBackMs }: SetBack) => {
  await tx
    .updateTable('exports')
    .set({ dueAt: sql`max(${now}, dueAt - ${setBackMs})` })
    .where('dueAt', '>', now)
    .execute();
});

/** Defers an export whose run failed. */
export const deferExport = defineWrite(
  'exports.defer',
  async (tx, { id, until }: Deferral<ExportRow['id']>) => {
    await tx
      .updateTable('exports')
      .set({ dueAt: until })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .execute();
  },
);

export type Ending = Pick<ExportRow, 'id'> & {
  now: number;
  result: { kind: 'file'; blob: BlobRow; rows: number } | { kind: 'failed'; error: string };
};

/**
 * Ends an export and stores its file in one write. Returns false when the export had ended before; its file is then
 * discarded.
 */
export const endExport = defineWrite(
  'exports.end',
  async (tx, { id, now, result }: Ending): Promise<boolean> => {
    const job = await tx
      .selectFrom('exports')
      .select('id')
      .where('id', '=', id)
      .where('status', '=', 'running')
      .executeTakeFirst();
    if (!job) return false;
    if (result.kind === 'file') await insertBlob(tx, result.blob);
    await tx
      .updateTable('exports')
      .set({ dueAt: null, finishedAt: now, ...columnsOf(result) })
      .where('id', '=', id)
      .execute();
    return true;
  },
);

function columnsOf(result: Ending['result']) {
  if (result.kind === 'failed') return { status: 'failed', error: result.error } as const;
  const { blob, rows } = result;
  return { status: 'completed', blobId: blob.id, sizeBytes: blob.sizeBytes, rows } as const;
}

type ToDelete = { tenantId: TenantId; id: string };

/**
 * Deletes an export. Returns its file if no other row uses it.
 * @throws AppError not_found; invalid_state before it has ended
 */
export const deleteExport = defineWrite(
  'exports.delete',
  async (tx, { tenantId, id }: ToDelete): Promise<StoredBytes | undefined> => {
    const job = await getExport(tx, tenantId, id);
    if (job.finishedAt === null) {
      throw new AppError('invalid_state', `The export is ${job.status}; it can be deleted once it has ended`);
    }
    return removeExport(tx, job);
  },
);

async function removeExport(
  tx: Tx,
  { id, blobId }: Pick<ExportRow, 'id' | 'blobId'>,
): Promise<StoredBytes | undefined> {
  await tx.deleteFrom('exports').where('id', '=', id).execute();
  return blobId === null ? undefined : emptyBlob(tx, blobId);
}

/** Maximum number of exports that one write removes. */
const SWEEP_JOBS = 100;

/**
 * Removes exports that ended before the given time. Returns the file of each, for the caller to discard; the list is
 * empty when none is left.
 */
export const sweepExports = defineWrite(
  'exports.sweep',
  async (tx, { before }: { before: number }): Promise<(StoredBytes | undefined)[]> => {
    const jobs = await tx
      .selectFrom('exports')
      .select(['id', 'blobId'])
      .where('finishedAt', '<', before)
      .orderBy('finishedAt')
      .limit(SWEEP_JOBS)
      .execute();
    const files: (StoredBytes | undefined)[] = [];
    for (const job of jobs) files.push(await removeExport(tx, job));
    return files;
  },
);
