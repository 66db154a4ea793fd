/** Finds the tenant that the path of a page names. */
import { path } from '../calls.ts';
import type { Contexts } from '../page.ts';
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
