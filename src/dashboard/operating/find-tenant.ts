/** Finds the tenant that the path of a page names. */
import { orNotFound } from '../../system/errors.ts';
import type { Contexts } from '../page.ts';
import type { Tenant } from './tenants.tsx';

/**
 * Returns the tenant.
 * @throws AppError not_found
 */
export async function findShownTenant({
  operator,
  params,
}: Pick<Contexts['operator'], 'operator' | 'params'>): Promise<Tenant> {
  const all = await operator.get<Tenant[]>('/tenants');
  return orNotFound(
    all.find(({ id }) => id === params['id']),
    'Tenant',
  );
}
