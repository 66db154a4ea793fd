/**
 * Stores imports of mail from other servers. An import is queued, then running, and at last completed or failed. It runs in turns. During
 * a turn it is leased: `dueAt` is the time at which another turn may begin. All SQL of the table is here, and nothing else writes it.
 */
import { sql } from 'kysely';
import type { SetBack } from '../db/due-times.ts';
import type { MailboxImportRow, MailboxRow } from '../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { WaitingTenant } from '../jobs/store.ts';
import { findMailboxById, getMailbox } from '../mailboxes/store.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import { insertErrors, type MessageError } from './error-store.ts';

type TenantId = MailboxImportRow['tenantId'];
type ImportId = MailboxImportRow['id'];

/** Maximum number of imports of a mailbox, those that have ended among them. Our own limit. */
export const MAX_IMPORTS = 50;

/**
 * Stores a new import.
 * @throws AppError not_found when the mailbox is deleted; validation_error when it has the maximum number of imports
 */
export const insertImport = defineWrite(
  'mailboxImports.insert',
  async (tx, row: MailboxImportRow): Promise<void> => {
    await getMailbox(tx, row.tenantId, row.mailboxId);
    const { count } = await tx
      .selectFrom('mailboxImports')
      .select((select) => select.fn.countAll<number>().as('count'))
      .where('mailboxId', '=', row.mailboxId)
      .executeTakeFirstOrThrow();
    if (count >= MAX_IMPORTS) throw limitReached('imports for this mailbox', count);
    await tx.insertInto('mailboxImports').values(row).execute();
  },
);

function importsOf(tx: Tx, tenantId: TenantId, mailboxId: MailboxImportRow['mailboxId']) {
  return tx
    .selectFrom('mailboxImports')
    .selectAll()
    .where('mailboxId', '=', mailboxId)
    .where('tenantId', '=', tenantId);
}

/**
 * Returns a page of the imports of a mailbox, newest first.
 * @throws AppError not_found when the tenant has no such mailbox
 */
export async function listImports(
  tx: Tx,
  tenantId: TenantId,
  { mailboxId, ...page }: { mailboxId: string } & PageRequest,
): Promise<Page<MailboxImportRow>> {
  const { id } = await getMailbox(tx, tenantId, mailboxId);
  return readPage(page, (slice) => inSlice(importsOf(tx, tenantId, id), 'id', slice).execute());
}

/** An import as a caller names it. */
type Named = { mailboxId: string; id: string };

/**
 * Returns an import.
 * @throws AppError not_found
 */
export async function getImport(
  tx: Tx,
  tenantId: TenantId,
  { mailboxId, id }: Named,
): Promise<MailboxImportRow> {
  const mailbox = await getMailbox(tx, tenantId, mailboxId);
  const row = await importsOf(tx, tenantId, mailbox.id)
    .where('id', '=', id as ImportId)
    .executeTakeFirst();
  if (!row) throw notFound('Import');
  return row;
}

/** Returns an import of any mailbox. The caller is the operator. */
export function findImport(tx: Tx, id: ImportId): Promise<MailboxImportRow | undefined> {
  return tx.selectFrom('mailboxImports').selectAll().where('id', '=', id).executeTakeFirst();
}

/**
 * Deletes an import, also one that runs: its turn then ends.
 * @throws AppError not_found
 */
export const deleteImport = defineWrite(
  'mailboxImports.delete',
  async (tx, { tenantId, ...named }: Named & { tenantId: TenantId }): Promise<MailboxImportRow> => {
    const row = await getImport(tx, tenantId, named);
    await tx.deleteFrom('mailboxImports').where('id', '=', row.id).execute();
    return row;
  },
);

/** Returns the tenants with imports that have not ended, and when the first of them is due. */
export function listWaiting(tx: Tx): Promise<WaitingTenant[]> {
  return tx
    .selectFrom('mailboxImports')
    .select((select) => ['tenantId', select.fn.min<number>('dueAt').as('dueAt')])
    .where('dueAt', 'is not', null)
    .groupBy('tenantId')
    .execute();
}

const firstDue = statement((db, param: Param<{ tenantId: TenantId; now: number }>) =>
  db
    .selectFrom('mailboxImports')
    .selectAll()
    .where('tenantId', '=', constant(param('tenantId')))
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(1),
);

type Lease = { tenantIds: readonly TenantId[]; now: number; until: number };

/** Leases the import of each tenant that has waited longest. Its turn counts as failed until it ends in another way. */
export const leaseImports = defineWrite(
  'mailboxImports.lease',
  async (tx, { tenantIds, now, until }: Lease): Promise<MailboxImportRow[]> => {
    const leased: MailboxImportRow[] = [];
    for (const tenantId of tenantIds) {
      const row = await firstDue.first(tx, { tenantId, now });
      if (!row) continue;
      const startedAt = row.startedAt ?? now;
      const failedTurns = row.failedTurns + 1;
      const change = { status: 'running', error: null, dueAt: until, startedAt, failedTurns } as const;
      await tx.updateTable('mailboxImports').set(change).where('id', '=', row.id).execute();
      leased.push({ ...row, ...change });
    }
    return leased;
  },
);

/**
 * Releases the imports that an earlier start of the daemon was running, and returns their number. After several failed turns in a row, an
 * import waits: it must not end the daemon again and again.
 */
export const releaseImports = defineWrite(
  'mailboxImports.release',
  async (tx, { now, delayMs }: { now: number; delayMs: number }): Promise<number> => {
    const released = await tx
      .updateTable('mailboxImports')
      .set({ dueAt: sql`${now} + max(0, failedTurns - 1) * ${delayMs}` })
      .where('dueAt', 'is not', null)
      .where('status', '=', 'running')
      .returning('id')
      .execute();
    return released.length;
  },
);

/** Moves due times, and the ends of leases, when the wall clock was set back. */
export const moveDueImports = defineWrite(
  'mailboxImports.moveDue',
  async (tx, { now, setBackMs }: SetBack): Promise<void> => {
    await tx
      .updateTable('mailboxImports')
      .set({ dueAt: sql`max(${now}, dueAt - ${setBackMs})` })
      .where('dueAt', '>', now)
      .execute();
  },
);

/**
 * Checks that an import may reach the messages of its mailbox, which nobody may while it is suspended.
 * @throws AppError unavailable, after which the import waits (worker.ts)
 */
export function requireNotSuspended(mailbox: Pick<MailboxRow, 'status'> | undefined): void {
  if (mailbox?.status === 'suspended') throw new AppError('unavailable', 'The mailbox is suspended');
}

type Advance = {
  id: ImportId;
  progress: string;
  errors: readonly MessageError[];
  /** End of the lease, in Unix milliseconds. */
  until: number;
};

/**
 * Stores the progress of a running import, and extends its lease. Returns false when it does not run any more.
 * @throws AppError unavailable while the mailbox is suspended
 */
export const advanceImport = defineWrite(
  'mailboxImports.advance',
  async (tx, { id, progress, errors, until }: Advance): Promise<boolean> => {
    const running = await tx
      .updateTable('mailboxImports')
      .set({ progress, dueAt: until })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .returning('mailboxId')
      .executeTakeFirst();
    if (!running) return false;
    requireNotSuspended(await findMailboxById(tx, running.mailboxId));
    await insertErrors(tx, id, errors);
    return true;
  },
);

type Pause = Pick<MailboxImportRow, 'id' | 'error' | 'failedTurns'> & { dueAt: number };

/** Ends a turn after which the import goes on at `dueAt`. `error` says why it waits; null when it only lets others take a turn. */
export const pauseImport = defineWrite(
  'mailboxImports.pause',
  async (tx, { id, ...change }: Pause): Promise<void> => {
    await tx
      .updateTable('mailboxImports')
      .set(change)
      .where('id', '=', id)
      .where('status', '=', 'running')
      .execute();
  },
);

type Ending = Pick<MailboxImportRow, 'id' | 'status' | 'reason' | 'error'> & { now: number };

/** Ends a running import, and forgets the password. */
export const endImport = defineWrite(
  'mailboxImports.end',
  async (tx, { id, now, ...outcome }: Ending): Promise<void> => {
    await tx
      .updateTable('mailboxImports')
      .set({ ...outcome, password: null, dueAt: null, finishedAt: now })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .execute();
  },
);

/** Maximum number of imports that one write removes, each with its errors. */
const REMOVED_IMPORTS = 10;

/** Removes some of the imports that ended before a time, and returns their number. */
export const sweepImports = defineWrite(
  'mailboxImports.sweep',
  async (tx, { before }: { before: number }): Promise<number> => {
    const removed = await tx
      .deleteFrom('mailboxImports')
      .where('id', 'in', (db) =>
        db.selectFrom('mailboxImports').select('id').where('finishedAt', '<', before).limit(REMOVED_IMPORTS),
      )
      .returning('id')
      .execute();
    return removed.length;
  },
);
