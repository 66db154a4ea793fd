/** Stores tenants, plans and API keys. All SQL of their tables is here, and nothing else writes them. */

import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { defineRead, defineWrite } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { addToRow, deleteRows, findColumns, findRow, insertRow, updateRows } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { DomainRow } from '../db/tables.ts';
import type { ApiKeyRow, PlanRow, TenantRow, TenantStatus, UsageRow } from '../db/tenant-tables.ts';
import { AppError, invalid, limitReached, notFound, orNotFound } from '../system/errors.ts';
import { INSTALLATION_TENANT } from './installation.ts';
import { requireKeyOfMailbox } from './mailbox-keys-store.ts';

/**
 * Stores a new tenant.
 * @throws AppError already_exists, or validation_error for an unknown plan
 */
export const insertTenant = defineWrite('tenants.insert', async (tx, wanted: Omit<TenantRow, 'status'>) => {
  const tenant: TenantRow = { ...wanted, status: 'active' };
  await requirePlan(tx, tenant.plan);
  const existing = await findTenantByName(tx, tenant.name);
  if (existing) {
    throw new AppError('already_exists', `A tenant named "${tenant.name}" exists already`, {
      details: { id: existing.id },
    });
  }
  await insertRow(tx, 'tenants', tenant);
  return tenant;
});

/**
 * Sets the plan of a tenant.
 * @throws AppError not_found, or validation_error for an unknown plan
 */
export const setTenantPlan = defineWrite(
  'tenants.setPlan',
  async (tx, { tenant, plan }: { tenant: string; plan: string }): Promise<TenantRow> => {
    const before = await getTenant(tx, tenant);
    await requirePlan(tx, plan);
    await updateRows(tx, 'tenants', { set: { plan }, where: { id: before.id } });
    return { ...before, plan };
  },
);

/** Sets the status of a tenant, as part of a write. */
export async function setTenantStatus(tx: Tx, id: TenantRow['id'], status: TenantStatus): Promise<void> {
  await updateRows(tx, 'tenants', { set: { status }, where: { id } });
}

/** Returns the status of a tenant; undefined when there is none. */
export async function findTenantStatus(tx: Tx, id: TenantRow['id']): Promise<TenantStatus | undefined> {
  return (await findColumns(tx, 'tenants', { select: ['status'], where: { id } }))?.status;
}

/** Deletes a tenant that owns nothing any more, as part of a write. */
export async function removeTenant(tx: Tx, id: TenantRow['id']): Promise<void> {
  await deleteRows(tx, 'tenants', { id });
}

const inactive = statement((db) =>
  // Literal, for the partial index `tenantsInactive`.
  db.selectFrom('tenants').select('id').where(sql<boolean>`status <> 'active'`),
);

/** Returns the tenants that are suspended or being deleted. Most installations have none. */
export async function listInactiveTenants(tx: Tx): Promise<ReadonlySet<string>> {
  return new Set((await inactive.all(tx, {})).map(({ id }) => id));
}

async function requirePlan(tx: Tx, name: string): Promise<void> {
  if (!(await findPlan(tx, name))) throw invalid('plan', `there is no plan "${name}"`);
}

/** Returns the tenant with this name, or undefined. */
export function findTenantByName(tx: Tx, name: string): Promise<TenantRow | undefined> {
  return findRow(tx, 'tenants', { name });
}

/**
 * Returns a tenant by its id, or by its name for people at a terminal. The tenant of the installation itself is not found, so that
 * it gets no keys and no other plan.
 * @throws AppError not_found
 */
export async function getTenant(tx: Tx, idOrName: string): Promise<TenantRow> {
  return orNotFound(await findTenant(tx, idOrName), 'Tenant');
}

/** Returns the tenant that `getTenant` returns; undefined when there is none. */
export function findTenant(tx: Tx, idOrName: string): Promise<TenantRow | undefined> {
  return tx
    .selectFrom('tenants')
    .selectAll()
    .where((where) => where.or([where('id', '=', idOrName as TenantRow['id']), where('name', '=', idOrName)]))
    .where('id', '!=', INSTALLATION_TENANT)
    .executeTakeFirst();
}

/**
 * Returns the tenant with this id or name, or without one the only tenant there is.
 * @throws AppError not_found; validation_error when there are several
 */
export async function getOnlyTenant(tx: Tx, idOrName: string | undefined): Promise<TenantRow> {
  if (idOrName !== undefined) return getTenant(tx, idOrName);
  const [only, ...others] = (await listTenantPage.run(tx, { limit: 2 })).items;
  if (only === undefined)
    throw invalid('tenant', 'there is no tenant yet: "postrider tenant create NAME" makes one');
  if (others.length > 0) throw invalid('tenant', '`tenant` must name one of the tenants (--tenant)');
  return only;
}

/** Returns a page of tenants, the newest first. With `name`, only those whose name contains the text, in any case of its letters. */
export const listTenantPage = defineRead(
  'tenants.listPage',
  (tx, { name, ...request }: PageRequest & { name?: string | undefined }): Promise<Page<TenantRow>> =>
    readPage(request, (slice) => {
      const tenants = tx.selectFrom('tenants').selectAll().where('id', '!=', INSTALLATION_TENANT);
      const named =
        name === undefined ? tenants : tenants.where(sql<boolean>`instr(lower(name), lower(${name})) > 0`);
      return inSlice(named, 'id', slice).execute();
    }),
);

/** Returns all tenants, or those with one of the ids, except that of the installation itself. */
export function listTenants(tx: Tx, ids?: readonly string[]): Promise<TenantRow[]> {
  const tenants = tx.selectFrom('tenants').selectAll().where('id', '!=', INSTALLATION_TENANT);
  const asked = ids ? tenants.where('id', 'in', ids as TenantRow['id'][]) : tenants;
  return asked.orderBy('id').execute();
}

/** Returns the plan with this name, or undefined. */
function findPlan(tx: Tx, name: string): Promise<PlanRow | undefined> {
  return findRow(tx, 'plans', { name });
}

/** Returns all plans. */
export function listPlans(tx: Tx): Promise<PlanRow[]> {
  return tx.selectFrom('plans').selectAll().orderBy('name').execute();
}

/** Adds a plan, or changes its limits and its weight. */
export const upsertPlan = defineWrite('tenants.upsertPlan', async (tx, plan: PlanRow) => {
  const { name: _name, createdAt: _createdAt, ...limits } = plan;
  await tx
    .insertInto('plans')
    .values(plan)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(limits))
    .execute();
  return plan;
});

const weights = statement((db) =>
  db
    .selectFrom('plans')
    // Such a join reads the few plans first, in SQLite (https://sqlite.org/optoverview.html#crossjoin).
    .crossJoin('tenants')
    .select(['tenants.id', 'plans.weight'])
    .where(sql<boolean>`plans.weight <> 1 AND tenants.plan = plans.name`),
);

/** Returns the weights of the tenants that have another one than 1. It runs on a reader thread, because there may be many of them. */
export const listWeights = defineRead(
  'tenants.weights',
  async (tx): Promise<ReadonlyMap<string, number>> =>
    new Map((await weights.all(tx, {})).map(({ id, weight }) => [id, weight])),
);

/** Maximum number of active API keys per tenant, live and test together. */
export const MAX_KEYS = 100;

/**
 * Stores a new key.
 * @throws AppError not_found when the tenant does not exist, or validation_error
 */
export const insertApiKey = defineWrite('tenants.insertApiKey', async (tx, key: ApiKeyRow) => {
  await getTenant(tx, key.tenantId);
  if (key.mailboxId === null) await requireKeyLimit(tx, key.tenantId, key.createdAt);
  else await requireKeyOfMailbox(tx, key);
  if (key.domainId !== null) await getKeyDomain(tx, key.tenantId, { param: 'domainId', id: key.domainId });
  await insertRow(tx, 'apiKeys', key);
});

async function requireKeyLimit(tx: Tx, tenantId: TenantRow['id'], now: number): Promise<void> {
  const unrevoked = tx
    .selectFrom('apiKeys')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', tenantId)
    .where('revokedAt', 'is', null)
    .where('mailboxId', 'is', null);
  // The count reads two ranges of the index. Expired keys are between the two ranges, so none of them is read.
  const lasting = await unrevoked.where('expiresAt', 'is', null).executeTakeFirstOrThrow();
  const passing = await unrevoked.where('expiresAt', '>', now).executeTakeFirstOrThrow();
  const count = lasting.count + passing.count;
  if (count >= MAX_KEYS) {
    throw limitReached('API keys (live and test together)', count, 'revoke one before you add another');
  }
}

/** Returns a key of any tenant, also a revoked one. The id comes from this installation, never from a caller. */
export function findKeyById(tx: Tx, id: ApiKeyRow['id']): Promise<ApiKeyRow | undefined> {
  return findRow(tx, 'apiKeys', { id });
}

/**
 * Returns the domain of a key by its id, or by its name for people at a terminal.
 * @throws AppError validation_error naming `param`
 */
export async function getKeyDomain(
  tx: Tx,
  tenantId: TenantRow['id'],
  { param, ...wanted }: { param: string; id: string } | { param: string; name: string },
): Promise<DomainRow['id']> {
  const column = 'id' in wanted ? 'id' : 'name';
  const domain = await tx
    .selectFrom('domains')
    .select('id')
    .where('tenantId', '=', tenantId)
    .where(column, '=', 'id' in wanted ? wanted.id : wanted.name)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
  if (!domain) throw invalid(param, `\`${param}\` is not a domain of the tenant`);
  return domain.id;
}

/** A tenant sees its keys separately by mode, without revoked ones. */
export type KeyOwner = Pick<ApiKeyRow, 'tenantId' | 'mode'>;

function keysInUse(tx: Tx, { tenantId, mode }: KeyOwner) {
  return tx
    .selectFrom('apiKeys')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('mode', '=', mode)
    .where('revokedAt', 'is', null);
}

/** Returns a page of keys that are not revoked, newest first. Expired keys are included. */
export function listKeysInUse(tx: Tx, owner: KeyOwner, page: PageRequest): Promise<Page<ApiKeyRow>> {
  return readPage(page, (slice) => inSlice(keysInUse(tx, owner), 'id', slice).execute());
}

/**
 * Returns a key that is not revoked.
 * @throws AppError not_found
 */
export async function getKeyInUse(tx: Tx, owner: KeyOwner, id: string): Promise<ApiKeyRow> {
  return keysInUse(tx, owner)
    .where('id', '=', id as ApiKeyRow['id'])
    .executeTakeFirstOrThrow(() => notFound('API key'));
}

type ByOwner = { owner: KeyOwner; id: string };

/** What a tenant can change of its keys. Fields that are missing stay as they are. */
export type KeyChange = Partial<Pick<ApiKeyRow, 'name' | 'requiresApproval'>>;

/**
 * Changes a key.
 * @throws AppError not_found
 */
export const updateApiKey = defineWrite(
  'tenants.updateApiKey',
  async (tx, { owner, id, change }: ByOwner & { change: KeyChange }): Promise<ApiKeyRow> => {
    const key = await getKeyInUse(tx, owner, id);
    // Whoever made the key has decided what it may do with the mail of a person.
    if (key.mailboxId !== null)
      throw new AppError('invalid_state', 'A key of a mailbox cannot be changed; it can be revoked');
    const { name = key.name, requiresApproval = key.requiresApproval } = change;
    await updateRows(tx, 'apiKeys', { set: { name, requiresApproval }, where: { id: key.id } });
    return { ...key, name, requiresApproval };
  },
);

/**
 * Revokes a key of one tenant and mode.
 * @throws AppError not_found
 */
export const endApiKey = defineWrite(
  'tenants.endApiKey',
  async (tx, { owner, id, now }: ByOwner & { now: number }): Promise<void> => {
    const key = await getKeyInUse(tx, owner, id);
    await updateRows(tx, 'apiKeys', { set: { revokedAt: now }, where: { id: key.id } });
  },
);

/** A key with what the plan of its tenant allows, and whether the tenant may use it at all. */
export type PlannedKey = ApiKeyRow &
  Pick<PlanRow, 'monthlyEmails' | 'requestsPerSecond'> & { tenantStatus: TenantStatus };

const keysByHint = statement((db, param: Param<Pick<ApiKeyRow, 'hint'>>) =>
  db
    .selectFrom('apiKeys')
    .innerJoin('tenants', 'tenants.id', 'apiKeys.tenantId')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .selectAll('apiKeys')
    .select(['plans.monthlyEmails', 'plans.requestsPerSecond', 'tenants.status as tenantStatus'])
    .where('apiKeys.hint', '=', param('hint')),
);

/** Returns the keys with this hint, each with the limits of its plan. */
export function listApiKeysByHint(tx: Tx, hint: string): Promise<PlannedKey[]> {
  return keysByHint.all(tx, { hint });
}

/** A key with the name of the domain that it is limited to, which may be deleted. */
export type KeyWithDomain = ApiKeyRow & { domain: string | null };

/** Returns all keys, or those of one tenant. */
export function listApiKeys(tx: Tx, tenantId?: TenantRow['id']): Promise<KeyWithDomain[]> {
  const query = tx
    .selectFrom('apiKeys')
    .leftJoin('domains', 'domains.id', 'apiKeys.domainId')
    .selectAll('apiKeys')
    .select('domains.name as domain')
    .orderBy('apiKeys.id');
  return (tenantId === undefined ? query : query.where('apiKeys.tenantId', '=', tenantId)).execute();
}

/**
 * Revokes a key of any tenant.
 * @throws AppError not_found
 */
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

/** Records the time at which a key was last used. */
export const recordKeyUse = defineWrite(
  'tenants.recordKeyUse',
  async (tx, { id, now }: { id: ApiKeyRow['id']; now: number }) => {
    await updateRows(tx, 'apiKeys', { set: { lastUsedAt: now }, where: { id } });
  },
);

/** `emails` is the number of emails accepted in the month. A tenant without a row has accepted none. */
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

/**
 * Returns the quota of a tenant and its use in the month.
 * @throws AppError not_found when the tenant does not exist
 */
export async function getQuota(tx: Tx, tenantId: TenantRow['id'], month: string): Promise<Quota> {
  const row = await quotaOfMonth.first(tx, { tenantId, month });
  if (!row) throw notFound('Tenant');
  return { monthlyEmails: row.monthlyEmails, emails: row.emails ?? 0 };
}

/** A plan with the emails that were counted against it in a month, and the size of the mail and the reports that it stores. */
export type PlanUsage = Omit<PlanRow, 'createdAt' | 'weight'> & { emails: number; storedBytes: number };

/**
 * Returns the plan of a tenant and its use in the month.
 * @throws AppError not_found when the tenant does not exist
 */
export async function getPlanUsage(tx: Tx, tenantId: TenantRow['id'], month: string): Promise<PlanUsage> {
  const row = await tx
    .selectFrom('tenants')
    .innerJoin('plans', 'plans.name', 'tenants.plan')
    .leftJoin('usage', (join) =>
      join.onRef('usage.tenantId', '=', 'tenants.id').on('usage.month', '=', month),
    )
    .leftJoin('storedMail', 'storedMail.tenantId', 'tenants.id')
    .select(['plans.name', 'plans.monthlyEmails', 'plans.requestsPerSecond', 'plans.storedMegabytes'])
    .select(['usage.emails', 'storedMail.bytes'])
    .where('tenants.id', '=', tenantId)
    .executeTakeFirst();
  if (!row) throw notFound('Tenant');
  const { emails, bytes, ...plan } = row;
  return { ...plan, emails: emails ?? 0, storedBytes: bytes ?? 0 };
}

/** Counts `emails` more, as part of the write that accepts them. */
export async function addUsage(
  tx: Tx,
  tenantId: TenantRow['id'],
  { month, emails }: Pick<UsageRow, 'month' | 'emails'>,
): Promise<void> {
  await addToRow(tx, 'usage', { tenantId, month, emails });
}
