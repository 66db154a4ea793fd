/**
 * Stores imports and the errors of their rows. All SQL of these tables is here, and nothing else writes them. Live
 * and test keys share imports.
 */
import { sql } from 'kysely';
import { emptyBlob, insertBlob, type StoredBytes } from '../blobs/store.ts';
import type { SetBack } from '../db/due-times.ts';
import type { ImportErrorRow, ImportRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { BlobRow } from '../db/tables.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import type { Deferral, Lease, WaitingTenant } from './jobs.ts';

type TenantId = ImportRow['tenantId'];

/** Maximum number of queued or running imports per tenant. Each keeps a file of up to 50 MiB. Our own limit. */
export const MAX_WAITING = 10;
/** Maximum number of errors that are stored for one file. More errors usually have one cause. */
export const MAX_ERRORS = 10_000;
/**
 * Maximum length of the address of an error. An address has at most 254 octets, but the cell may contain anything.
 * Our own limit.
 */
const MAX_EMAIL_CHARACTERS = 254;
/** Maximum length of the message of an error, which may quote long headings. Our own limit. */
const MAX_MESSAGE_CHARACTERS = 500;

/**
 * Stores a new import.
 * @throws AppError validation_error when the maximum number of imports waits
 */
export const insertImport = defineWrite(
  'imports.insert',
  async (tx, { job, blob }: { job: ImportRow; blob: BlobRow }) => {
    const { count } = await tx
      .selectFrom('imports')
      .select((select) => select.fn.countAll<number>().as('count'))
      .where('tenantId', '=', job.tenantId)
      .where('dueAt', 'is not', null)
      .executeTakeFirstOrThrow();
    if (count >= MAX_WAITING) {
      throw limitReached('imports that have not ended', count, 'try again when one has');
    }
    await insertBlob(tx, blob);
    await tx.insertInto('imports').values(job).execute();
  },
);

const byId = statement((db, param: Param<Pick<ImportRow, 'tenantId' | 'id'>>) =>
  db
    .selectFrom('imports')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id')),
);

/**
 * Returns an import.
 * @throws AppError not_found, also for the import of another tenant
 */
export async function getImport(tx: Tx, tenantId: TenantId, id: string): Promise<ImportRow> {
  const job = await byId.first(tx, { tenantId, id: id as ImportRow['id'] });
  if (!job) throw notFound('Import');
  return job;
}

export type ImportList = PageRequest & {
  status?: ImportRow['status'] | undefined;
  kind?: ImportRow['kind'] | undefined;
  audienceId?: string | undefined;
};

/** Returns a page of imports, newest first. */
export function listImports(
  tx: Tx,
  tenantId: TenantId,
  { status, audienceId, kind, ...page }: ImportList,
): Promise<Page<ImportRow>> {
  const everyOne = tx.selectFrom('imports').selectAll().where('tenantId', '=', tenantId);
  const all = status === undefined ? everyOne : everyOne.where('status', '=', status);
  // Imports into an audience are imports of contacts. The kind is added because the index starts with it.
  const wantedKind = audienceId === undefined ? kind : (kind ?? 'contacts');
  const ofKind = wantedKind === undefined ? all : all.where('kind', '=', wantedKind);
  const wanted =
    audienceId === undefined
      ? ofKind
      : ofKind.where('audienceId', '=', audienceId as ImportRow['audienceId']);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

const errorsAfter = statement(
  (db, param: Param<{ importId: ImportRow['id']; afterLine: number; limit: number }>) =>
    db
      .selectFrom('importErrors')
      .select(['line', 'email', 'message'])
      .where('importId', '=', constant(param('importId')))
      .where('line', '>', constant(param('afterLine')))
      .orderBy('line')
      .limit(constant(param('limit'))),
);

/**
 * Returns a page of the errors in the order of the file. The caller has checked that the import belongs to the
 * tenant.
 */
export function listErrors(
  tx: Tx,
  importId: ImportRow['id'],
  { afterLine, limit }: { afterLine: number; limit: number },
): Promise<RowError[]> {
  return errorsAfter.all(tx, { importId, afterLine, limit });
}

/** Returns the tenants with imports that have not ended, each with the time at which the first of them is due. */
export function listWaiting(tx: Tx): Promise<WaitingTenant[]> {
  return tx
    .selectFrom('imports')
    .select((select) => ['tenantId', select.fn.min<number>('dueAt').as('dueAt')])
    .where('dueAt', 'is not', null)
    .groupBy('tenantId')
    .execute();
}

const firstDue = statement((db, param: Param<{ tenantId: TenantId; now: number }>) =>
  db
    .selectFrom('imports')
    .selectAll()
    .where('tenantId', '=', constant(param('tenantId')))
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .orderBy('id')
    .limit(1),
);

/** Leases the first due import of each tenant. */
export const leaseImports = defineWrite(
  'imports.lease',
  async (tx, { tenantIds, now, until }: Lease): Promise<ImportRow[]> => {
    const leased: ImportRow[] = [];
    for (const tenantId of tenantIds) {
      const job = await firstDue.first(tx, { tenantId, now });
      if (!job) continue;
      const change = { status: 'running', dueAt: until, startedAt: job.startedAt ?? now } as const;
      await tx.updateTable('imports').set(change).where('id', '=', job.id).execute();
      leased.push({ ...job, ...change });
    }
    return leased;
  },
);

/** Makes the imports due that an earlier start of the daemon was running. Returns their number. */
export const releaseImports = defineWrite('imports.release', async (tx, { now }: { now: number }) => {
  const released = await tx
    .updateTable('imports')
    .set({ dueAt: now })
    .where('dueAt', 'is not', null)
    .where('status', '=', 'running')
    .returning('id')
    .execute();
  return released.length;
});

/** Moves due times, and the ends of leases, when the wall clock was set back. */
export const moveDueImports = defineWrite('imports.moveDue', async (tx, { now, setBackMs }: SetBack) => {
  await tx
    .updateTable('imports')
    .set({ dueAt: sql`max(${now}, dueAt - ${setBackMs})` })
    .where('dueAt', '>', now)
    .execute();
});

/** Defers an import whose run failed. */
export const deferImport = defineWrite(
  'imports.defer',
  async (tx, { id, until }: Deferral<ImportRow['id']>) => {
    await tx
      .updateTable('imports')
      .set({ dueAt: until })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .execute();
  },
);

const running = statement((db, param: Param<Pick<ImportRow, 'id'>>) =>
  db.selectFrom('imports').selectAll().where('id', '=', param('id')).where('status', '=', 'running'),
);

/** Returns a running import of any tenant. The id comes from a lease, never from a caller. */
export function findRunning(tx: Tx, id: ImportRow['id']): Promise<ImportRow | undefined> {
  return running.first(tx, { id });
}

export type RowError = Pick<ImportErrorRow, 'line' | 'email' | 'message'>;
type Counts = Pick<ImportRow, 'created' | 'updated' | 'skipped'>;
type Advance = Counts & { errors: readonly RowError[]; processedBytes: number; until: number };

const advance = statement(
  (db, param: Param<Counts & Pick<ImportRow, 'id' | 'rows' | 'failed' | 'processedBytes' | 'dueAt'>>) =>
    db
      .updateTable('imports')
      .set({
        rows: param('rows'),
        created: param('created'),
        updated: param('updated'),
        skipped: param('skipped'),
        failed: param('failed'),
        processedBytes: param('processedBytes'),
        dueAt: param('dueAt'),
      })
      .where('id', '=', param('id')),
);

const insertError = statement((db, param: Param<ImportErrorRow>) =>
  db.insertInto('importErrors').values({
    importId: param('importId'),
    tenantId: param('tenantId'),
    line: param('line'),
    email: param('email'),
    message: param('message'),
  }),
);

/** Part of the write that takes the rows: counts them, and keeps what was wrong with those it did not take. */
export async function advanceImport(
  /** Counts the stored rows of a batch and stores its errors, as part of the write that stores the rows. */
  tx: Tx,
  job: ImportRow,
  { errors, until, ...said }: Advance,
): Promise<void> {
  const { id, tenantId } = job;
  for (const { line, email, message } of errors.slice(0, Math.max(MAX_ERRORS - job.failed, 0))) {
    await insertError.all(tx, {
      importId: id,
      tenantId,
      line,
      email: cut(email, MAX_EMAIL_CHARACTERS),
      message: cut(message, MAX_MESSAGE_CHARACTERS),
    });
  }
  const taken = said.created + said.updated + said.skipped;
  await advance.all(tx, {
    id,
    rows: job.rows + taken + errors.length,
    created: job.created + said.created,
    updated: job.updated + said.updated,
    skipped: job.skipped + said.skipped,
    failed: job.failed + errors.length,
    processedBytes: said.processedBytes,
    dueAt: until,
  });
}

/** Returns the text cut to the length, without half of a surrogate pair at the end. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).toWellFormed();
}

export type Ending = Pick<ImportRow, 'id'> & {
  /** Number of rows that the job must have. With another number, another run has continued it. */
  rows: number;
  /** The error that ended the import; undefined when the whole file was read. */
  error: string | undefined;
  now: number;
};

export type Ended = { wasEnded: boolean; file: StoredBytes | undefined };

/**
 * Ends an import. Its file is released; the job and its errors stay until the sweep. Returns whether this call ended
 * the import, and the file if no other job uses it.
 */
export const endImport = defineWrite(
  'imports.end',
  async (tx, { id, rows, error, now }: Ending): Promise<Ended> => {
    const job = await findRunning(tx, id);
    if (!job || job.rows !== rows) return { wasEnded: false, file: undefined };
    const processedBytes = error === undefined ? job.sizeBytes : job.processedBytes;
    const status = error === undefined ? 'completed' : 'failed';
    await tx
      .updateTable('imports')
      .set({ status, processedBytes, error: error ?? null, dueAt: null, finishedAt: now, blobId: null })
      .where('id', '=', id)
      .execute();
    const file = job.blobId === null ? undefined : await emptyBlob(tx, job.blobId);
    return { wasEnded: true, file };
  },
);

/** Maximum number of rows that one write removes, since other writes wait for it. */
const REMOVED_ROWS = 1_000;

type ToDelete = { tenantId: TenantId; id: string };

/**
 * Deletes as many rows of an import as one write may. Returns true when the import is gone; otherwise the caller
 * calls again.
 *
 * @throws AppError not_found; invalid_state before it has ended
 */
export const deleteImport = defineWrite(
  'imports.delete',
  async (tx, { tenantId, id }: ToDelete): Promise<boolean> => {
    const job = await getImport(tx, tenantId, id);
    if (job.finishedAt === null) {
      throw new AppError('invalid_state', `The import is ${job.status}; it can be deleted once it has ended`);
    }
    return removeSlice(tx, job);
  },
);

/**
 * Removes rows of the oldest import that ended before the given time, as many as one write may. Returns whether there
 * was one.
 */
export const sweepImports = defineWrite(
  'imports.sweep',
  async (tx, { before }: { before: number }): Promise<boolean> => {
    const job = await tx
      .selectFrom('imports')
      .select('id')
      .where('finishedAt', '<', before)
      .orderBy('finishedAt')
      .limit(1)
      .executeTakeFirst();
    if (job) await removeSlice(tx, job);
    return job !== undefined;
  },
);

/** Removes errors of an import, and then the import itself. Returns true when it is gone. */
async function removeSlice(tx: Tx, { id }: Pick<ImportRow, 'id'>): Promise<boolean> {
  const lines = await tx
    .selectFrom('importErrors')
    .select('line')
    .where('importId', '=', id)
    .orderBy('line')
    .limit(REMOVED_ROWS)
    .execute();
  const last = lines.at(-1)?.line;
  if (last !== undefined) {
    await tx.deleteFrom('importErrors').where('importId', '=', id).where('line', '<=', last).execute();
  }
  if (lines.length === REMOVED_ROWS) return false;
  await tx.deleteFrom('imports').where('id', '=', id).execute();
  return true;
}
