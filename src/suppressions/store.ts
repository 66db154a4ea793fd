/**
 * Stores the addresses that a tenant's mail is never sent to. All SQL of this table is here, and nothing else writes
 * it.
 */

import type { SuppressionReason, SuppressionRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../db/rows.ts';
import { addressKey } from '../mail/address.ts';
import { orNotFound } from '../system/errors.ts';
import { isId } from '../system/ids.ts';

/** Strength of each reason: a stronger reason replaces a weaker one. */
const STRENGTH: Record<SuppressionReason, number> = { manual: 0, unsubscribe: 1, bounce: 2, complaint: 3 };

/** Returns the stronger of two reasons. */
export function strongerOf(one: SuppressionReason, other: SuppressionReason): SuppressionReason {
  return STRENGTH[other] > STRENGTH[one] ? other : one;
}

/** Returns the suppressed ones of `addresses`, each as its `addressKey` (lower case). */
export async function findSuppressed(
  tx: Tx,
  tenantId: SuppressionRow['tenantId'],
  addresses: readonly string[],
): Promise<Set<string>> {
  const suppressed = new Set<string>();
  for (const email of new Set(addresses.map(addressKey))) {
    if (await findRow(tx, 'suppressions', { tenantId, email })) suppressed.add(email);
  }
  return suppressed;
}

/**
 * Returns a suppression. `key` is an id, or an address in lower case.
 * @throws AppError not_found, also for the suppression of another tenant
 */
export async function getSuppression(
  tx: Tx,
  tenantId: SuppressionRow['tenantId'],
  key: string,
): Promise<SuppressionRow> {
  return orNotFound(await findSuppression(tx, tenantId, key), 'Suppression');
}

/** Returns a suppression; undefined when the tenant has none like this. `key` is an id, or an address in lower case. */
export function findSuppression(
  tx: Tx,
  tenantId: SuppressionRow['tenantId'],
  key: string,
): Promise<SuppressionRow | undefined> {
  return isId('sup', key)
    ? findRow(tx, 'suppressions', { tenantId, id: key })
    : findRow(tx, 'suppressions', { tenantId, email: key });
}

/** `email` is in lower case. */
export type SuppressionFilter = { email?: string; reason?: SuppressionReason };

/** Returns a page of suppressions, newest first. */
export function listSuppressions(
  tx: Tx,
  tenantId: SuppressionRow['tenantId'],
  { email, reason, ...page }: SuppressionFilter & PageRequest,
): Promise<Page<SuppressionRow>> {
  let wanted = tx.selectFrom('suppressions').selectAll().where('tenantId', '=', tenantId);
  if (email !== undefined) wanted = wanted.where('email', '=', email);
  if (reason !== undefined) wanted = wanted.where('reason', '=', reason);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

type OfTenant = { tenantId: SuppressionRow['tenantId'] | undefined };

/**
 * Returns suppressions that bounces of known emails have made, the oldest first. `after` is the id of the last one of the page before.
 */
export function listBounced(
  tx: Tx,
  { tenantId, after, limit }: OfTenant & { after: string | undefined; limit: number },
): Promise<SuppressionRow[]> {
  let wanted = bouncedOf(tx, tenantId);
  if (after !== undefined) wanted = wanted.where('id', '>', after as SuppressionRow['id']);
  return wanted.orderBy('id').limit(limit).execute();
}

/** Returns those of the suppressions with these ids that bounces of known emails have made. */
export function findBounced(
  tx: Tx,
  { tenantId, ids }: OfTenant & { ids: readonly string[] },
): Promise<SuppressionRow[]> {
  return bouncedOf(tx, tenantId)
    .where('id', 'in', ids as SuppressionRow['id'][])
    .execute();
}

function bouncedOf(tx: Tx, tenantId: OfTenant['tenantId']) {
  const wanted = tx
    .selectFrom('suppressions')
    .selectAll()
    .where('reason', '=', 'bounce')
    .where('sourceEmailId', 'is not', null);
  return tenantId === undefined ? wanted : wanted.where('tenantId', '=', tenantId);
}

/** `updated` had a weaker reason before; `unchanged` had a reason that is as strong. */
export type Suppressed = { suppression: SuppressionRow; outcome: 'created' | 'updated' | 'unchanged' };

/**
 * Suppresses an address, as part of a write. A suppressed address keeps its id and time, and gets the new reason with
 * its source if that is stronger.
 */
export async function suppress(tx: Tx, wanted: SuppressionRow): Promise<Suppressed> {
  const suppression = { ...wanted, email: addressKey(wanted.email) };
  const existing = await findRow(tx, 'suppressions', {
    tenantId: suppression.tenantId,
    email: suppression.email,
  });
  if (!existing) {
    await insertRow(tx, 'suppressions', suppression);
    return { suppression, outcome: 'created' };
  }
  if (STRENGTH[suppression.reason] <= STRENGTH[existing.reason])
    return { suppression: existing, outcome: 'unchanged' };
  const { reason, sourceEmailId, diagnostic } = suppression;
  await updateRows(tx, 'suppressions', {
    set: { reason, sourceEmailId, diagnostic },
    where: { id: existing.id },
  });
  return { suppression: { ...existing, reason, sourceEmailId, diagnostic }, outcome: 'updated' };
}

/**
 * Deletes a suppression, as part of a write. `key` is an id, or an address in lower case. Returns undefined when the
 * tenant has no such suppression.
 */
export async function deleteSuppression(
  tx: Tx,
  tenantId: SuppressionRow['tenantId'],
  key: string,
): Promise<SuppressionRow | undefined> {
  const suppression = await findSuppression(tx, tenantId, key);
  if (suppression) await deleteRows(tx, 'suppressions', { id: suppression.id });
  return suppression;
}
