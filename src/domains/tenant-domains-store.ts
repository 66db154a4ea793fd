/** Reads the domains of a tenant that is deleted, and has domains/store.ts end them. */
import type { Tx } from '../db/operation.ts';
import type { DomainRow } from '../db/tables.ts';
import { INSTALLATION_TENANT } from '../tenants/installation.ts';
import { scheduleLook } from './keys/task.ts';
import { markEnded, moveEndedDomain } from './store.ts';

type OfTenant = Pick<DomainRow, 'tenantId'> & { limit: number; now: number };

/** Marks domains of the tenant as deleted, whatever mail they have. Returns their number. */
export async function endDomainsOf(tx: Tx, { tenantId, limit, now }: OfTenant): Promise<number> {
  const live = tx.selectFrom('domains').select('id').where('tenantId', '=', tenantId);
  const domains = await live.where('deletedAt', 'is', null).limit(limit).execute();
  for (const { id } of domains) await markEnded(tx, { id, tenantId, now });
  return domains.length;
}

/**
 * Gives deleted domains of the tenant to the installation, which removes them with their keys by the rules of all deleted domains: receivers
 * may still look for the key of mail that has left. Returns their number.
 */
export async function leaveDomainsOf(tx: Tx, { tenantId, limit, now }: OfTenant): Promise<number> {
  const ended = tx.selectFrom('domains').select('id').where('tenantId', '=', tenantId);
  const domains = await ended.where('deletedAt', 'is not', null).limit(limit).execute();
  for (const { id } of domains) {
    await moveEndedDomain(tx, { id, tenantId: INSTALLATION_TENANT });
    await scheduleLook(tx, { id, tenantId: INSTALLATION_TENANT }, now);
  }
  return domains.length;
}
