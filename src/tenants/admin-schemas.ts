/** Schemas of the admin API for tenants, plans and keys. */
import { type Static, Type } from 'typebox';
import type { ApiKeyRow, PlanRow, TenantRow } from '../db/tenant-tables.ts';
import { isoTime } from '../system/clock.ts';
import { allowedIps, keyName, mode, permission, REQUIRED_APPROVALS, showApiKey } from './schemas.ts';
import type { KeyWithDomain } from './store.ts';

const name = keyName;

export const newTenantSchema = Type.Object({ name, plan: Type.String({ default: 'unlimited' }) });
export type NewTenant = Static<typeof newTenantSchema>;

/** Maximum number of tenants on a page, and of those that are asked for by their ids. */
const MAX_TENANTS = 100;

/**
 * With `limit`, the answer is a page, the newest first; without it, all tenants, or those with one of the `ids`, which commas separate. `name`
 * selects those of a page whose name contains it.
 */
export const tenantQuery = Type.Object({
  ids: Type.Optional(
    Type.String({ pattern: `^ten_[0-9a-z]{1,30}(,ten_[0-9a-z]{1,30}){0,${MAX_TENANTS - 1}}$` }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TENANTS })),
  startingAfter: Type.Optional(Type.String()),
  endingBefore: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ minLength: 1 })),
});
export type TenantQuery = Static<typeof tenantQuery>;

export const tenantChangeSchema = Type.Object({ plan: Type.String() });
export type TenantChange = Static<typeof tenantChangeSchema>;

/** Maximum limit of stored mail. Its number of bytes is an exact integer in JavaScript. */
const MAX_STORED_MEGABYTES = 1_000_000_000;
/** Maximum weight. A tenant of weight 1 waits for at most so many messages of each other tenant. */
const MAX_WEIGHT = 100;

export const planSchema = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9_-]{1,64}$' }),
  monthlyEmails: Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()]),
  requestsPerSecond: Type.Union([
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    Type.Null(),
  ]),
  storedMegabytes: Type.Union([Type.Integer({ minimum: 0, maximum: MAX_STORED_MEGABYTES }), Type.Null()]),
  weight: Type.Integer({ minimum: 1, maximum: MAX_WEIGHT, default: 1 }),
});
export type Plan = Static<typeof planSchema>;

export const newKeySchema = Type.Object({
  /** Id or name of the tenant. */
  tenant: Type.String(),
  name,
  mode,
  permission,
  /** Id or name of the domain. */
  domain: Type.Optional(Type.String()),
  allowedIps: Type.Optional(allowedIps),
  expiresAt: Type.Optional(Type.String()),
  requiresApproval: Type.Optional(Type.Enum([...REQUIRED_APPROVALS])),
});
export type NewKeyBody = Static<typeof newKeySchema>;

/** `tenant` is an id or a name. */
export const keyQuery = Type.Object({ tenant: Type.Optional(Type.String()) });
export type KeyQuery = Static<typeof keyQuery>;

/** Returns a tenant as the admin API shows it. */
export function showTenant(row: TenantRow) {
  const { id, name, plan, status } = row;
  return { id, name, plan, status, createdAt: isoTime(row.createdAt) };
}

/** Returns a plan as the admin API shows it. */
export function showPlan(row: PlanRow): Plan {
  const { name, monthlyEmails, requestsPerSecond, storedMegabytes, weight } = row;
  return { name, monthlyEmails, requestsPerSecond, storedMegabytes, weight };
}

/** Returns a key without its token as the admin API shows it. */
export function showKey(row: ApiKeyRow) {
  const revokedAt = row.revokedAt === null ? null : isoTime(row.revokedAt);
  return { ...showApiKey(row), tenantId: row.tenantId, revokedAt };
}

/** Returns a key with the name of its domain. */
export function showListedKey(row: KeyWithDomain) {
  return { ...showKey(row), domain: row.domain };
}
