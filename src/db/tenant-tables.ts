/** The data dictionary: tenants, their plans and their API keys. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by tenants/store.ts. */
export type PlanRow = {
  name: string;
  /** Maximum number of emails in a calendar month; null means no limit. */
  monthlyEmails: number | null;
  /** Maximum number of requests per second; null means no limit. */
  requestsPerSecond: number | null;
  /** Maximum size of the received mail that a tenant stores, in units of 1024 * 1024 bytes; null means no limit. */
  storedMegabytes: number | null;
  createdAt: number;
};

/** Written by tenants/store.ts. */
export type TenantRow = { id: Id<'ten'>; name: string; plan: string; createdAt: number };

/** Written by tenants/store.ts: emails accepted in a calendar month (UTC), of tenants whose plan has a limit. */
export type UsageRow = {
  tenantId: Id<'ten'>;
  /** Calendar month (UTC), such as `2026-11`. */
  month: string;
  emails: number;
};

export type Permission = 'full_access' | 'sending_access' | 'read_only';

/** Written by tenants/store.ts. */
export type ApiKeyRow = {
  id: Id<'key'>;
  tenantId: Id<'ten'>;
  name: string;
  mode: 'live' | 'test';
  permission: Permission;
  /** The one domain that the key may send from; null allows every domain of its tenant. */
  domainId: Id<'dom'> | null;
  /** JSON list of the addresses and CIDR blocks from which the key may be used; null allows every address. */
  allowedIps: string | null;
  /** The 8 characters after the prefix. Keys are looked up by them. */
  hint: string;
  /** SHA-256 hash of the whole token, in hex. */
  tokenHash: string;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
};
