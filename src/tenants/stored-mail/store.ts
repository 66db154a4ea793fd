/**
 * Counts the received mail that each tenant stores, in bytes, and compares it with the limit of the tenant's plan. All SQL of
 * the counter is here, and nothing else writes it. The functions that count are part of the writes that store and remove mail.
 */

import type { StoredMailRow } from '../../db/inbound-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { TenantRow } from '../../db/tables.ts';
import { INSTALLATION_TENANT } from '../installation.ts';

/** The owner of mail: a tenant, or null for the installation itself. */
type Owner = TenantRow['id'] | null;

/** Unit of the limit in a plan. */
export const BYTES_PER_MEGABYTE = 1024 * 1024;

const upsertBytes = statement((db, param: Param<StoredMailRow>) =>
  db
    .insertInto('storedMail')
    .values({ tenantId: param('tenantId'), bytes: param('bytes') })
    .onConflict((conflict) =>
      conflict
        .column('tenantId')
        .doUpdateSet((set) => ({ bytes: set('storedMail.bytes', '+', set.ref('excluded.bytes')) })),
    ),
);

/** Counts mail that the calling write stores. The limit does not apply here: it is checked before mail is accepted. */
export async function addStoredBytes(tx: Tx, owner: Owner, bytes: number): Promise<void> {
  await upsertBytes.all(tx, { tenantId: owner ?? INSTALLATION_TENANT, bytes });
}

/** Counts mail that the calling write removes. `bytes` is what `addStoredBytes` was given for the same mail. */
export async function subtractStoredBytes(tx: Tx, owner: Owner, bytes: number): Promise<void> {
  await addStoredBytes(tx, owner, -bytes);
}

const storedAndLimit = statement((db, param: Param<{ tenantId: TenantRow['id'] }>) =>
  db
    .selectFrom('tenants')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .leftJoin('storedMail', 'storedMail.tenantId', 'tenants.id')
    .select(['plans.storedMegabytes', 'storedMail.bytes'])
    .where('tenants.id', '=', constant(param('tenantId'))),
);

const storedLimit = statement((db, param: Param<{ tenantId: TenantRow['id'] }>) =>
  db
    .selectFrom('tenants')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .select('plans.storedMegabytes')
    .where('tenants.id', '=', constant(param('tenantId'))),
);

/** Returns true when the plan of the tenant has no limit. */
export async function hasUnlimitedRoom(tx: Tx, tenantId: TenantRow['id']): Promise<boolean> {
  return (await storedLimit.first(tx, { tenantId }))?.storedMegabytes === null;
}

/**
 * Returns true when the tenant may store another message. A message whose size the sender has not declared counts as empty.
 * Messages that arrive at the same time are compared with the same sum, so together they may exceed the limit by their own size.
 */
export async function hasRoomFor(tx: Tx, tenantId: TenantRow['id'], sizeBytes = 0): Promise<boolean> {
  const row = await storedAndLimit.first(tx, { tenantId });
  if (!row) return false;
  return row.storedMegabytes === null || fits(row.bytes, { megabytes: row.storedMegabytes, sizeBytes });
}

/** Returns true when the mail of the installation itself, with another message, stays within a limit. Sizes are as for `hasRoomFor`. */
export async function hasInstallationRoomFor(tx: Tx, megabytes: number, sizeBytes = 0): Promise<boolean> {
  const row = await storedAndLimit.first(tx, { tenantId: INSTALLATION_TENANT });
  return fits(row?.bytes ?? null, { megabytes, sizeBytes });
}

function fits(
  used: number | null,
  { megabytes, sizeBytes }: { megabytes: number; sizeBytes: number },
): boolean {
  const limit = megabytes * BYTES_PER_MEGABYTE;
  return (used ?? 0) < limit && (used ?? 0) + sizeBytes <= limit;
}
