/**
 * Counts what each tenant stores of received mail and of the reports of other servers, in bytes, and compares it with the limit of
 * the tenant's plan. All SQL of the counter is here, and nothing else writes it. The functions that count are part of the writes that
 * store and remove mail and reports.
 */

import type { Tx } from '../../db/operation.ts';
import { addToRow, findColumns } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { TenantRow } from '../../db/tenant-tables.ts';
import { INSTALLATION_TENANT } from '../installation.ts';

/** The owner of mail: a tenant, or null for the installation itself. */
type Owner = TenantRow['id'] | null;

/** Unit of the limit in a plan. */
export const BYTES_PER_MEGABYTE = 1024 * 1024;

/** Counts mail that the calling write stores. The limit does not apply here: it is checked before mail is accepted. */
export async function addStoredBytes(tx: Tx, owner: Owner, bytes: number): Promise<void> {
  await addToRow(tx, 'storedMail', { tenantId: owner ?? INSTALLATION_TENANT, bytes });
}

/** Counts mail that the calling write removes. `bytes` is what `addStoredBytes` was given for the same mail. */
export async function subtractStoredBytes(tx: Tx, owner: Owner, bytes: number): Promise<void> {
  await addStoredBytes(tx, owner, -bytes);
}

/** Returns what a tenant stores, in bytes. */
export async function readStoredBytes(tx: Tx, tenantId: TenantRow['id']): Promise<number> {
  return (await findColumns(tx, 'storedMail', { select: ['bytes'], where: { tenantId } }))?.bytes ?? 0;
}

/** Returns the name of a tenant's plan, or undefined when there is no such tenant. */
export async function findPlanName(tx: Tx, tenantId: TenantRow['id']): Promise<string | undefined> {
  return (await findColumns(tx, 'tenants', { select: ['plan'], where: { id: tenantId } }))?.plan;
}

/** Returns the limit of a plan in megabytes: null when it has none, undefined when there is no such plan. */
export async function findStoredLimit(tx: Tx, plan: string): Promise<number | null | undefined> {
  return (await findColumns(tx, 'plans', { select: ['storedMegabytes'], where: { name: plan } }))
    ?.storedMegabytes;
}

const limitOfTenant = statement((db, param: Param<Pick<TenantRow, 'id'>>) =>
  db
    .selectFrom('tenants')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .select('plans.storedMegabytes')
    .where('tenants.id', '=', constant(param('id'))),
);

/** Returns the limit of a tenant's plan in megabytes: null when it has none, undefined when there is no such tenant or plan. */
export async function findStoredLimitOf(
  tx: Tx,
  tenantId: TenantRow['id'],
): Promise<number | null | undefined> {
  return (await limitOfTenant.first(tx, { id: tenantId }))?.storedMegabytes;
}

/**
 * Returns true when a tenant may store `sizeBytes` more and then has at most this share of the limit of its plan. The calling write
 * stores them.
 */
export async function hasShareFor(
  tx: Tx,
  tenantId: TenantRow['id'],
  { share, sizeBytes }: { share: number; sizeBytes: number },
): Promise<boolean> {
  const limit = await findStoredLimitOf(tx, tenantId);
  if (limit === null) return true;
  return fits(await readStoredBytes(tx, tenantId), { megabytes: (limit ?? 0) * share, sizeBytes });
}

/** Returns true when the mail of the installation itself, with another message, stays within a limit. Sizes are as for `fits`. */
export async function hasInstallationQuotaFor(tx: Tx, megabytes: number, sizeBytes = 0): Promise<boolean> {
  return fits(await readStoredBytes(tx, INSTALLATION_TENANT), { megabytes, sizeBytes });
}

/**
 * Returns true when a message may be stored beside `usedBytes`. A message whose size the sender has not declared counts as empty.
 * Nothing fits when the limit is reached.
 */
export function fits(
  usedBytes: number,
  { megabytes, sizeBytes = 0 }: { megabytes: number; sizeBytes: number | undefined },
): boolean {
  const limit = megabytes * BYTES_PER_MEGABYTE;
  return usedBytes < limit && usedBytes + sizeBytes <= limit;
}
