/** Stores what people have changed. All SQL of this table is here: rows are appended, read, and deleted only by their age. */
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import type { AuditRow } from '../../db/people-tables.ts';
import { insertRow } from '../../db/rows.ts';

/** Appends a line. */
export const recordAudit = defineWrite('audit.record', async (tx, entry: AuditRow) => {
  await insertRow(tx, 'auditEntries', entry);
});

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
