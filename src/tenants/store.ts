/** Tenants, plans and API keys: all SQL, and the only writer of their tables. */

import type { Tx } from '../db/operation.ts';
import { defineWrite } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { ApiKeyRow, PlanRow, TenantRow, UsageRow } from '../db/tables.ts';
import { AppError, invalid, notFound } from '../system/errors.ts';

/** @throws AppError already_exists, or validation_error for an unknown plan */
export const insertTenant = defineWrite('tenants.insert', async (tx, tenant: TenantRow) => {
  if (!(await findPlan(tx, tenant.plan))) throw invalid('plan', `there is no plan "${tenant.plan}"`);
  const existing = await findTenantByName(tx, tenant.name);
  if (existing) {
    throw new AppError('already_exists', `A tenant named "${tenant.name}" exists already`, {
      details: { id: existing.id },
    });
  }
  await tx.insertInto('tenants').values(tenant).execute();
  return tenant;
});

export function findTenantByName(tx: Tx, name: string): Promise<TenantRow | undefined> {
  return tx.selectFrom('tenants').selectAll().where('name', '=', name).executeTakeFirst();
}

/** By id, or by name for people at a terminal. */
export async function getTenant(tx: Tx, idOrName: string): Promise<TenantRow> {
  const row = await tx
    .selectFrom('tenants')
    .selectAll()
    .where((where) => where.or([where('id', '=', idOrName as TenantRow['id']), where('name', '=', idOrName)]))
    .executeTakeFirst();
  if (!row) throw notFound('Tenant');
  return row;
}

export function listTenants(tx: Tx): Promise<TenantRow[]> {
  return tx.selectFrom('tenants').selectAll().orderBy('id').execute();
}

export function findPlan(tx: Tx, name: string): Promise<PlanRow | undefined> {
  return tx.selectFrom('plans').selectAll().where('name', '=', name).executeTakeFirst();
}

export function listPlans(tx: Tx): Promise<PlanRow[]> {
  return tx.selectFrom('plans').selectAll().orderBy('name').execute();
}

/** Adds a plan or changes its limits. */
export const upsertPlan = defineWrite('tenants.upsertPlan', async (tx, plan: PlanRow) => {
  const { monthlyEmails, requestsPerSecond } = plan;
  await tx
    .insertInto('plans')
    .values(plan)
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ monthlyEmails, requestsPerSecond }))
    .execute();
  return plan;
});

/** @throws AppError not_found when the tenant does not exist */
export const insertApiKey = defineWrite('tenants.insertApiKey', async (tx, key: ApiKeyRow) => {
  await getTenant(tx, key.tenantId);
  await tx.insertInto('apiKeys').values(key).execute();
});

/** A key with what the plan of its tenant allows. */
export type PlannedKey = ApiKeyRow & Pick<PlanRow, 'monthlyEmails' | 'requestsPerSecond'>;

const keysByHint = statement((db, param: Param<Pick<ApiKeyRow, 'hint'>>) =>
  db
    .selectFrom('apiKeys')
    .innerJoin('tenants', 'tenants.id', 'apiKeys.tenantId')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .selectAll('apiKeys')
    .select(['plans.monthlyEmails', 'plans.requestsPerSecond'])
    .where('apiKeys.hint', '=', param('hint')),
);

export function listApiKeysByHint(tx: Tx, hint: string): Promise<PlannedKey[]> {
  return keysByHint.all(tx, { hint });
}

export function listApiKeys(tx: Tx, tenantId?: TenantRow['id']): Promise<ApiKeyRow[]> {
  const query = tx.selectFrom('apiKeys').selectAll().orderBy('id');
  return (tenantId === undefined ? query : query.where('tenantId', '=', tenantId)).execute();
}

/** @throws AppError not_found */
export const revokeApiKey = defineWrite(
  'tenants.revokeApiKey',
  async (tx, { id, now }: { id: ApiKeyRow['id']; now: number }) => {
    const row = await tx
      .updateTable('apiKeys')
      .set((set) => ({ revokedAt: set.fn.coalesce('revokedAt', set.val(now)) }))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (!row) throw notFound('API key');
    return row;
  },
);

export const recordKeyUse = defineWrite(
  'tenants.recordKeyUse',
  async (tx, { id, now }: { id: ApiKeyRow['id']; now: number }) => {
    await tx.updateTable('apiKeys').set({ lastUsedAt: now }).where('id', '=', id).execute();
  },
);

/** `emails`: accepted in the month. A tenant without a row has accepted none. */
export type Quota = { monthlyEmails: number | null; emails: number };

const quotaOfMonth = statement((db, param: Param<Pick<UsageRow, 'tenantId' | 'month'>>) =>
  db
    .selectFrom('tenants')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .leftJoin('usage', (join) =>
      join.onRef('usage.tenantId', '=', 'tenants.id').on('usage.month', '=', constant(param('month'))),
    )
    .select(['plans.monthlyEmails', 'usage.emails'])
    .where('tenants.id', '=', constant(param('tenantId'))),
);

/** @throws AppError not_found when the tenant does not exist */
export async function getQuota(tx: Tx, tenantId: TenantRow['id'], month: string): Promise<Quota> {
  const row = await quotaOfMonth.first(tx, { tenantId, month });
  if (!row) throw notFound('Tenant');
  return { monthlyEmails: row.monthlyEmails, emails: row.emails ?? 0 };
}

const upsertUsage = statement((db, param: Param<UsageRow>) =>
  db
    .insertInto('usage')
    .values({ tenantId: param('tenantId'), month: param('month'), emails: param('emails') })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'month'])
        .doUpdateSet((set) => ({ emails: set('usage.emails', '+', set.ref('excluded.emails')) })),
    ),
);

/** Counts `emails` more. Runs inside the write that accepts them. */
export async function addUsage(
  tx: Tx,
  tenantId: TenantRow['id'],
  { month, emails }: Pick<UsageRow, 'month' | 'emails'>,
): Promise<void> {
  await upsertUsage.all(tx, { tenantId, month, emails });
}
