/** Names of tenants for text: an operator knows tenants by their names, and answers have their ids. */
import { INSTALLATION_TENANT } from '../tenants/installation.ts';
import type { ControlClient } from './control-client.ts';
import { printable } from './table.ts';

/** Returns the name of a tenant by its id. One that is deleted has no name any more, so its id is returned. */
export type NameOf = (tenantId: string) => string;

/** Number of tenants that are asked for at a time (tenants/admin-schemas.ts). */
const TENANTS_PER_REQUEST = 100;

/**
 * Returns the names of all tenants that an answer has the ids of, in fields with the name `tenantId` or `tenant`. The tenant of the
 * installation is in no list of tenants.
 */
export async function findTenantNames(
  control: Pick<ControlClient, 'request'>,
  answer: unknown,
): Promise<NameOf> {
  const names = new Map([[INSTALLATION_TENANT as string, 'installation']]);
  const ids = [...tenantIdsOf(answer)].filter((id) => !names.has(id));
  for (let begin = 0; begin < ids.length; begin += TENANTS_PER_REQUEST) {
    const query = new URLSearchParams({ ids: ids.slice(begin, begin + TENANTS_PER_REQUEST).join(',') });
    const tenants = await control.request<{ id: string; name: string }[]>('GET', `/tenants?${query}`);
    for (const { id, name } of tenants) names.set(id, printable(name));
  }
  return (id) => names.get(id) ?? id;
}

const FIELDS: readonly string[] = ['tenantId', 'tenant'];
const TENANT_ID = /^ten_[0-9a-z]{1,30}$/;

/** Returns the ids of tenants in all fields for them, also of nested objects. */
function tenantIdsOf(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, field] of Object.entries(value))
    if (typeof field !== 'string') tenantIdsOf(field, found);
    else if (FIELDS.includes(name) && TENANT_ID.test(field)) found.add(field);
  return found;
}
