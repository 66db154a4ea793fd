/**
 * Decides from memory whether tenants may store another message. What a tenant stores is cached as an upper bound: the sum that was
 * read last, and all mail that was stored since. Mail that is removed lowers the sum and not the bound, so a tenant whose bound is
 * too high is looked up again, and one that is really full is looked up for each message.
 */

import { AnswerCache } from '../../db/answer-cache.ts';
import type { Db } from '../../db/database.ts';
import type { TenantRow } from '../../db/tenant-tables.ts';
import { UpperBounds } from '../../db/upper-bounds.ts';
import { findPlanName, findStoredLimit, fits, readStoredBytes } from './store.ts';

type TenantId = TenantRow['id'];

export type TenantQuota = {
  /**
   * Returns true when the tenant may store another message. A message whose size the sender has not declared counts as empty.
   * Messages that arrive at the same time are compared with the same sum, so together they may exceed the limit by their own size.
   */
  hasQuotaFor(tenantId: TenantId, sizeBytes: number | undefined): Promise<boolean>;
  /** Takes mail into account that a write has stored. Whoever commits such a write calls this. */
  noteStored(tenantId: TenantId, bytes: number): void;
};

/** Maximum number of tenants that are cached: a few MB. */
const MAX_TENANTS = 10_000;

/** Returns the check, which knows no tenant yet. */
export function createTenantQuota(
  { changes, read }: Pick<Db, 'changes' | 'read'>,
  { readBytes = readStoredBytes } = {},
): TenantQuota {
  const cacheOptions = { changes, maxSize: MAX_TENANTS, sizeOf: () => 1 };
  const plans = new AnswerCache<TenantId, string | undefined>({ ...cacheOptions, tables: ['tenants'] });
  const limits = new AnswerCache<string, number | null | undefined>({ ...cacheOptions, tables: ['plans'] });
  const stored = new UpperBounds<TenantId>((tenantId) => readBytes(read, tenantId), MAX_TENANTS);

  return {
    async hasQuotaFor(tenantId, sizeBytes) {
      const plan = await plans.get(tenantId, () => findPlanName(read, tenantId));
      const megabytes = plan && (await limits.get(plan, () => findStoredLimit(read, plan)));
      if (megabytes === null) return true;
      if (typeof megabytes !== 'number') return false;
      return stored.doesFit(tenantId, (bytes) => fits(bytes, { megabytes, sizeBytes }));
    },
    noteStored: (tenantId, bytes) => stored.add(tenantId, bytes),
  };
}
