/**
 * Stores imports of mail from other servers. An import is queued, then running, and at last completed or failed; until then it has a
 * task, each of whose runs is one run. All SQL of the table is here, and nothing else writes it.
 */
import type { MailboxImportRow, MailboxRow } from '../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { countRows } from '../db/rows.ts';
import { findMailboxById, getMailbox } from '../mailboxes/store.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import {
  cancelTask,
  completeTask,
  type Lease,
  retryTask,
  scheduleTask,
  type TaskEnd,
} from '../tasks/store.ts';
import { insertErrors, type MessageError } from './error-store.ts';

type TenantId = MailboxImportRow['tenantId'];
type ImportId = MailboxImportRow['id'];

/** Kind of the tasks that run imports. */
export const MAILBOX_IMPORTS = 'mailbox-imports';

/** Maximum number of imports of a mailbox, those that have ended among them. */
export const MAX_IMPORTS = 50;

/**
 * Stores a new import.
 * @throws AppError not_found when the mailbox is deleted; validation_error when it has the maximum number of imports
 */
export const insertImport = defineWrite(
  'mailboxImports.insert',
  async (tx, row: MailboxImportRow): Promise<void> => {
    await getMailbox(tx, row.tenantId, row.mailboxId);
    const count = await countRows(tx, 'mailboxImports', { mailboxId: row.mailboxId });
    if (count >= MAX_IMPORTS) throw limitReached('imports for this mailbox', count);
    await tx.insertInto('mailboxImports').values(row).execute();
    const { id: reference, tenantId, createdAt: dueAt } = row;
    await scheduleTask(tx, { kind: MAILBOX_IMPORTS, reference, queueKey: tenantId, tenantId, dueAt });
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
  return importsOf(tx, tenantId, mailbox.id)
    .where('id', '=', id as ImportId)
    .executeTakeFirstOrThrow(() => notFound('Import'));
}

/** Returns an import of any mailbox. The caller is the operator. */
export function findImport(tx: Tx, id: ImportId): Promise<MailboxImportRow | undefined> {
  return tx.selectFrom('mailboxImports').selectAll().where('id', '=', id).executeTakeFirst();
}

/**
 * Deletes an import, also one that runs: its run then ends.
 * @throws AppError not_found
 */
export const deleteImport = defineWrite(
  'mailboxImports.delete',
  async (tx, { tenantId, ...named }: Named & { tenantId: TenantId }): Promise<MailboxImportRow> => {
    const row = await getImport(tx, tenantId, named);
    await tx.deleteFrom('mailboxImports').where('id', '=', row.id).execute();
    await cancelTask(tx, { kind: MAILBOX_IMPORTS, reference: row.id });
    return row;
  },
);

/** An import while its task is leased. */
export type RunningImport = MailboxImportRow & { lease: Lease };

/** Begins a run of an import, and returns the import. A task without an import that has not ended is done, and the answer undefined. */
export const beginRun = defineWrite(
  'mailboxImports.beginRun',
  async (tx, { lease, now }: { lease: Lease; now: number }): Promise<RunningImport | undefined> => {
    const row = await findImport(tx, lease.reference as ImportId);
    if (!row || row.finishedAt !== null) {
      await completeTask.run(tx, lease);
      return undefined;
    }
    const change = { status: 'running', error: null, startedAt: row.startedAt ?? now } as const;
    await tx.updateTable('mailboxImports').set(change).where('id', '=', row.id).execute();
    return { ...row, ...change, lease };
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
};

/**
 * Stores the progress of a running import. Returns false when it does not run any more.
 * @throws AppError unavailable while the mailbox is suspended
 */
export const advanceImport = defineWrite(
  'mailboxImports.advance',
  async (tx, { id, progress, errors }: Advance): Promise<boolean> => {
    const running = await tx
      .updateTable('mailboxImports')
      .set({ progress })
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

type Pause = { lease: Lease; dueAt: number } & Pick<MailboxImportRow, 'error'> & {
    /** Number of runs in a row that were interrupted and imported nothing. */
    attempts: number;
  };

/** Ends a run after which the import goes on at `dueAt`. `error` says why it waits; null when it only lets others take a run. */
export const pauseImport = defineWrite(
  'mailboxImports.pause',
  async (tx, { error, ...retry }: Pause): Promise<TaskEnd> => {
    const end = await retryTask.run(tx, retry);
    if (end !== 'stale') await changeRunning(tx, retry.lease, { error });
    return end;
  },
);

type Ending = { lease: Lease; now: number } & Pick<MailboxImportRow, 'status' | 'reason' | 'error'>;

/** Ends a running import, and forgets the password. */
export const endImport = defineWrite(
  'mailboxImports.end',
  async (tx, { lease, now, ...outcome }: Ending): Promise<TaskEnd> => {
    const end = await completeTask.run(tx, lease);
    if (end !== 'stale') await changeRunning(tx, lease, { ...outcome, password: null, finishedAt: now });
    return end;
  },
);

async function changeRunning(tx: Tx, { reference }: Lease, change: Partial<MailboxImportRow>): Promise<void> {
  await tx
    .updateTable('mailboxImports')
    .set(change)
    .where('id', '=', reference as ImportId)
    .where('finishedAt', 'is', null)
    .execute();
}

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
