/** Shapes of the admin API for tenants, plans and keys. */
import { type Static, Type } from 'typebox';
import type { ApiKeyRow, PlanRow, TenantRow } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';

const name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]+$' });

export const newTenantSchema = Type.Object({ name, plan: Type.String({ default: 'unlimited' }) });
export type NewTenant = Static<typeof newTenantSchema>;

export const planSchema = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9_-]{1,64}$' }),
  monthlyEmails: Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()]),
  requestsPerSecond: Type.Union([
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    Type.Null(),
  ]),
});
export type Plan = Static<typeof planSchema>;

export const newKeySchema = Type.Object({
  /** Id or name. */
  tenant: Type.String(),
  name,
  mode: Type.Enum(['live', 'test']),
  permission: Type.Enum(['full_access', 'sending_access', 'read_only']),
  expiresAt: Type.Optional(Type.String()),
});
export type NewKeyBody = Static<typeof newKeySchema>;

/** `tenant`: id or name. */
export const keyQuery = Type.Object({ tenant: Type.Optional(Type.String()) });
export type KeyQuery = Static<typeof keyQuery>;

export function showTenant(row: TenantRow) {
  return { id: row.id, name: row.name, plan: row.plan, createdAt: isoTime(row.createdAt) };
}

export function showPlan({ name, monthlyEmails, requestsPerSecond }: PlanRow): Plan {
  return { name, monthlyEmails, requestsPerSecond };
}

export function showKey(row: ApiKeyRow) {
  const time = (value: number | null) => (value === null ? null : isoTime(value));
  return {
    id: row.id,
    tenantId: row.tenantId,
    name: row.name,
    mode: row.mode,
    permission: row.permission,
    hint: row.hint,
    createdAt: isoTime(row.createdAt),
    lastUsedAt: time(row.lastUsedAt),
    expiresAt: time(row.expiresAt),
    revokedAt: time(row.revokedAt),
  };
}
