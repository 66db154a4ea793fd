/** Finds the tenant that the path of a page names. */
import { path } from '../../http/json/calls.ts';
import type { Acted, Contexts } from '../page.ts';
import type { Tenant } from './tenants.tsx';

/**
 * Returns the tenant.
 * @throws AppError not_found
 */
export function findShownTenant({
  operator,
  params,
}: Pick<Contexts['operator'], 'operator' | 'params'>): Promise<Tenant> {
  return operator.get<Tenant>(path`/tenants/${params['id'] ?? ''}`);
}

/** Returns what the audit log has of an action on a thing: the tenant whose it is; nothing for a thing of the installation. */
export function aboutOwner({ tenantId }: Pick<Acted, 'tenantId'>): Acted {
  return tenantId == null ? {} : { tenantId };
}

/** Returns what the audit log has of an action on a tenant, which the operator has named by its id or name, or on all of them. */
export async function aboutTenant(
  operator: Contexts['operator']['operator'],
  tenant: string | true | undefined,
): Promise<Acted> {
  if (typeof tenant !== 'string' || tenant === '') return {};
  return { tenantId: (await findShownTenant({ operator, params: { id: tenant } })).id };
}
