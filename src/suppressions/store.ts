/** Addresses a tenant's mail never goes to: all SQL, and the only writer of their table. */
import { defineWrite, type Tx } from '../db/operation.ts';
import { type Param, statement } from '../db/statement.ts';
import type { SuppressionReason, SuppressionRow } from '../db/tables.ts';
import { addressKey } from '../mail/address.ts';

/** api.md 1.7: a stronger reason replaces a weaker one. */
const STRENGTH: Record<SuppressionReason, number> = { manual: 0, unsubscribe: 1, bounce: 2, complaint: 3 };

type ByEmail = Pick<SuppressionRow, 'tenantId' | 'email'>;

const byEmail = statement((db, param: Param<ByEmail>) =>
  db
    .selectFrom('suppressions')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('email', '=', param('email')),
);

/** Those of `addresses` that are suppressed, each as its `addressKey` (lower case). */
export async function findSuppressed(
  tx: Tx,
  tenantId: SuppressionRow['tenantId'],
  addresses: readonly string[],
): Promise<Set<string>> {
  const suppressed = new Set<string>();
  for (const email of new Set(addresses.map(addressKey))) {
    if (await byEmail.first(tx, { tenantId, email })) suppressed.add(email);
  }
  return suppressed;
}

const insert = statement((db, param: Param<SuppressionRow>) =>
  db.insertInto('suppressions').values({
    id: param('id'),
    tenantId: param('tenantId'),
    email: param('email'),
    reason: param('reason'),
    sourceEmailId: param('sourceEmailId'),
    diagnostic: param('diagnostic'),
    createdAt: param('createdAt'),
  }),
);

/**
 * Part of a write. What is suppressed already keeps its id and time, and takes the new reason, with its source, when
 * that is the stronger one. `isNew` tells which of the two it was.
 */
export async function suppress(
  tx: Tx,
  wanted: SuppressionRow,
): Promise<{ suppression: SuppressionRow; isNew: boolean }> {
  const suppression = { ...wanted, email: addressKey(wanted.email) };
  const existing = await byEmail.first(tx, suppression);
  if (!existing) {
    await insert.all(tx, suppression);
    return { suppression, isNew: true };
  }
  if (STRENGTH[suppression.reason] <= STRENGTH[existing.reason])
    return { suppression: existing, isNew: false };
  const { reason, sourceEmailId, diagnostic } = suppression;
  await tx
    .updateTable('suppressions')
    .set({ reason, sourceEmailId, diagnostic })
    .where('id', '=', existing.id)
    .execute();
  return { suppression: { ...existing, reason, sourceEmailId, diagnostic }, isNew: false };
}

/** The same as a write of its own. */
export const insertSuppression = defineWrite('suppressions.insert', suppress);
