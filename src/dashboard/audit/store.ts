/**
 * Stores what people have changed. All SQL of this table is here: rows are appended, counted, read, and deleted only by their age. Nobody can
 * make so many rows that they fill the disk, or that those of others are not found among them: beyond a number of them in a day, each action
 * has one row, which counts.
 */
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import type { AuditRow } from '../../db/people-tables.ts';
import { insertRow, updateRows } from '../../db/rows.ts';
import { DAY_MS } from '../../system/clock.ts';
import { firstIdAt } from '../../system/ids.ts';

/** Maximum number of rows with details of one person or mailbox, and of all of a tenant, in a day. Our own limits. */
const MAX_OF_ACTOR = 300;
const MAX_OF_TENANT = 2_000;

/** Appends a row, or counts the action in the row of the day that has the same ones. */
export const recordAudit = defineWrite('audit.record', async (tx, entry: AuditRow) => {
  if (await mayHaveDetails(tx, entry)) {
    await insertRow(tx, 'auditEntries', entry);
    return;
  }
  const { tenantId, action, at } = entry;
  const counted = await ofActor(tx, entry)
    .selectAll()
    .where('id', '>=', firstIdAt('adt', at - DAY_MS))
    .where('tenantId', tenantId === null ? 'is' : '=', tenantId)
    .where('action', '=', action)
    .where('details', '=', '')
    .orderBy('id')
    .executeTakeFirst();
  if (counted)
    await updateRows(tx, 'auditEntries', { set: { times: counted.times + 1 }, where: { id: counted.id } });
  else await insertRow(tx, 'auditEntries', { ...entry, target: '', details: '' });
});

async function mayHaveDetails(tx: Tx, { personId, mailboxId, tenantId, at }: AuditRow): Promise<boolean> {
  const since = firstIdAt('adt', at - DAY_MS);
  const ofTenant = tx.selectFrom('auditEntries').where('tenantId', '=', tenantId);
  return (
    (await hasFewer(ofActor(tx, { personId, mailboxId }), { since, maximum: MAX_OF_ACTOR })) &&
    (tenantId === null || (await hasFewer(ofTenant, { since, maximum: MAX_OF_TENANT })))
  );
}

type Rows = ReturnType<typeof ofActor>;

/** Returns the rows of a person or of the owner of a mailbox. */
function ofActor(tx: Tx, { personId, mailboxId }: Pick<AuditRow, 'personId' | 'mailboxId'>) {
  const all = tx.selectFrom('auditEntries');
  return personId === null ? all.where('mailboxId', '=', mailboxId) : all.where('personId', '=', personId);
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
