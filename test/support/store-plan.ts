/** Stores the plans that tests give to their tenants. */
import type { Db } from '../../src/db/database.ts';
import type { PlanRow } from '../../src/db/tenant-tables.ts';
import { upsertPlan } from '../../src/tenants/store.ts';

type Limits = Partial<Pick<PlanRow, 'monthlyEmails' | 'requestsPerSecond' | 'storedMegabytes' | 'weight'>>;

/** Stores a plan that has these limits and no others. It replaces the plan of that name, such as the one of a spool: `unlimited`. */
export function storePlan(db: Pick<Db, 'commit'>, name: string, limits: Limits = {}): Promise<PlanRow> {
  const unlimited = { monthlyEmails: null, requestsPerSecond: null, storedMegabytes: null, weight: 1 };
  return db.commit(upsertPlan, { name, ...unlimited, ...limits, createdAt: 0 });
}
