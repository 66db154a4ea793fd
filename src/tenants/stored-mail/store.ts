/**
 * Counts the received mail that each tenant stores, in bytes, and compares it with the limit of the tenant's plan. All SQL of
 * the counter is here, and nothing else writes it. The functions that count are part of the writes that store and remove mail.
 */

import type { StoredMailRow } from '../../db/inbound-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { TenantRow } from '../../db/tables.ts';

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
export async function addStoredBytes(tx: Tx, tenantId: TenantRow['id'], bytes: number): Promise<void> {
  await upsertBytes.all(tx, { tenantId, bytes });
}

/** Counts mail that the calling write removes. `bytes` is what `addStoredBytes` was given for the same mail. */
export async function subtractStoredBytes(tx: Tx, tenantId: TenantRow['id'], bytes: number): Promise<void> {
  await upsertBytes.all(tx, { tenantId, bytes: -bytes });
}

const storedAndLimit = statement((db, param: Param<{ tenantId: TenantRow['id'] }>) =>
  db
    .selectFrom('tenants')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .leftJoin('storedMail', 'storedMail.tenantId', 'tenants.id')
    .select(['plans.storedMegabytes', 'storedMail.bytes'])
    .where('tenants.id', '=', constant(param('tenantId'))),
);

/**
 * Returns true when the tenant may store another message. A message whose size the sender has not declared counts as empty.
 * Messages that arrive at the same time are compared with the same sum, so together they may exceed the limit by their own size.
 */
export async function hasRoomFor(tx: Tx, tenantId: TenantRow['id'], sizeBytes = 0): Promise<boolean> {
  const row = await storedAndLimit.first(tx, { tenantId });
  if (!row) return false;
  const { storedMegabytes, bytes } = row;
  if (storedMegabytes === null) return true;
  const limit = storedMegabytes * BYTES_PER_MEGABYTE;
  const used = bytes ?? 0;
  return used < limit && used + sizeBytes <= limit;
}
