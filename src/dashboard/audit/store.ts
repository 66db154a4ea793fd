/**
 * Stores what people have changed. All SQL of this table is here: rows are appended, get their outcome once, are read, and are deleted only by
 * their age; triggers refuse everything else (db/audit-guards.ts). Nobody can make so many rows that they fill the disk, or that those of others
 * are not found among them: beyond a number of them in a day, the same action with the same values has one row, which counts.
 */
import { sql } from 'kysely';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import type { AuditOutcome, AuditRow } from '../../db/people-tables.ts';
import { insertRow, updateRows } from '../../db/rows.ts';
import { DAY_MS } from '../../system/clock.ts';
import { firstIdAt } from '../../system/ids.ts';

/** Maximum number of rows of their own of one person or mailbox, and of all of a tenant, in a day. Our own limits. */
const MAX_OF_ACTOR = 300;
const MAX_OF_TENANT = 2_000;
/** Maximum number of rows of one person or mailbox in a day, those that count among them. Our own limit. */
const MAX_ROWS_OF_ACTOR = 1_000;

/** A row as it is before its action. */
type NewAuditRow = Omit<AuditRow, 'times' | 'outcome'>;

/** `begun` is a row that waits for its outcome, `counted` one that counts, and `refused` none: the action must not take place. */
type Beginning = 'begun' | 'counted' | 'refused';

/**
 * Appends the row of an action that is about to take place, or counts it in the row of the day that has the same values. An action without
 * values, such as a login, always has a row: there are few of them, and nobody is kept from logging in.
 */
export const beginAudit = defineWrite('audit.begin', async (tx, row: NewAuditRow): Promise<Beginning> => {
  const since = firstIdAt('adt', row.at - DAY_MS);
  if (await mayHaveOwnRow(tx, row, since)) {
    await insertRow(tx, 'auditEntries', { ...row, times: 1, outcome: null });
    return 'begun';
  }
  const counting = await findCounting(tx, row, since);
  if (counting) {
    const { id, times } = counting;
    await updateRows(tx, 'auditEntries', { set: { times: times + 1 }, where: { id } });
    return 'counted';
  }
  const mayHaveRow = await hasFewer(ofActor(tx, row), { since, maximum: MAX_ROWS_OF_ACTOR });
  if (!mayHaveRow && hasValues(row))
    return isCommand(row) ? beginAudit.run(tx, { ...row, target: '', details: '{}' }) : 'refused';
  await insertRow(tx, 'auditEntries', { ...row, times: 1, outcome: 'counted' });
  return 'counted';
});

/** Stores how an action has ended, and the tenant that it turned out to be about, where none was known before. */
export const completeAudit = defineWrite(
  'audit.complete',
  async (
    tx,
    { id, outcome, tenantId }: Pick<AuditRow, 'id' | 'tenantId'> & { outcome: AuditOutcome },
  ): Promise<void> => {
    await tx
      .updateTable('auditEntries')
      .set({ outcome, tenantId: sql`coalesce(tenantId, ${tenantId})` })
      .where('id', '=', id)
      .execute();
  },
);

async function mayHaveOwnRow(
  tx: Tx,
  { personId, mailboxId, tenantId }: NewAuditRow,
  since: AuditRow['id'],
): Promise<boolean> {
  const ofTenant = tx.selectFrom('auditEntries').where('tenantId', '=', tenantId);
  return (
    (await hasFewer(ofActor(tx, { personId, mailboxId }), { since, maximum: MAX_OF_ACTOR })) &&
    (tenantId === null || (await hasFewer(ofTenant, { since, maximum: MAX_OF_TENANT })))
  );
}

function hasValues({ target, details }: NewAuditRow): boolean {
  return target !== '' || details !== '{}';
}

/** Returns true for a command of the operator, which nothing may refuse. Beyond the number of rows, it is counted by its name alone. */
function isCommand({ personId, mailboxId }: NewAuditRow): boolean {
  return personId === null && mailboxId === null;
}

/** Finds the row that counts what has the same values, from wherever it was done. */
function findCounting(
  tx: Tx,
  row: NewAuditRow,
  since: AuditRow['id'],
): Promise<Pick<AuditRow, 'id' | 'times'> | undefined> {
  const { tenantId, action, target, mode, details } = row;
  return ofActor(tx, row)
    .select(['id', 'times'])
    .where('id', '>=', since)
    .where('outcome', '=', 'counted')
    .where('tenantId', tenantId === null ? 'is' : '=', tenantId)
    .where('action', '=', action)
    .where('target', '=', target)
    .where('mode', mode === null ? 'is' : '=', mode)
    .where('details', '=', details)
    .orderBy('id')
    .executeTakeFirst();
}

type Rows = ReturnType<typeof ofActor>;

/** Returns the rows of a person, of the owner of a mailbox, or of the commands of the operator. */
function ofActor(tx: Tx, { personId, mailboxId }: Pick<AuditRow, 'personId' | 'mailboxId'>) {
  const all = tx.selectFrom('auditEntries');
  if (personId !== null) return all.where('personId', '=', personId);
  if (mailboxId !== null) return all.where('mailboxId', '=', mailboxId);
  return all.where('personId', 'is', null).where('mailboxId', 'is', null);
}

/** Returns true when there are fewer rows than the maximum since a time. It reads no more than these. */
async function hasFewer(
  rows: Rows,
  { since, maximum }: { since: AuditRow['id']; maximum: number },
): Promise<boolean> {
  const { length } = await rows.select('id').where('id', '>=', since).limit(maximum).execute();
  return length < maximum;
}

/** Returns a page of what happened in a tenant, or, with null, in the whole installation, the newest first. */
export function listAudit(
  tx: Tx,
  tenantId: AuditRow['tenantId'],
  page: PageRequest,
): Promise<Page<AuditRow>> {
  const all = tx.selectFrom('auditEntries').selectAll();
  const wanted = tenantId === null ? all : all.where('tenantId', '=', tenantId);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

/** Deletes a slice of old lines. */
export const expireAudit = defineWrite(
  'audit.expire',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'auditEntries', range);
    const { numDeletedRows } = await tx.deleteFrom('auditEntries').where(isInSlice).executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
