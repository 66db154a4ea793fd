/** The data dictionary: tenants, their plans and their API keys. The conventions are those of tables.ts, which lists every table. */
import {
  belongsTo,
  bytes,
  clusteredTable,
  id,
  initially,
  integer,
  key,
  nullable,
  type Row,
  references,
  table,
  text,
  unique,
} from './table.ts';

/** Written by tenants/store.ts. */
export const plans = table({
  name: key(text()),
  /** Maximum number of emails in a calendar month; null means no limit. */
  monthlyEmails: nullable(integer()),
  /** Maximum number of requests per second; null means no limit. */
  requestsPerSecond: nullable(integer()),
  /** Maximum size of the received mail that a tenant stores, in units of 1024 * 1024 bytes; null means no limit. */
  storedMegabytes: nullable(integer()),
  createdAt: integer(),
  /** Number of messages of a tenant that leave in its turn, among those of others for the same site; 1 to 100. */
  weight: initially(1, integer()),
});
export type PlanRow = Row<typeof plans>;

/**
 * `suspended`: the operator has stopped what the tenant sends, until it is resumed. `deleting`: the tenant and everything that it owns are
 * being deleted.
 */
export type TenantStatus = 'active' | 'suspended' | 'deleting';

/** Written by tenants/store.ts. */
export const tenants = table({
  id: key(id('ten')),
  name: unique(text()),
  plan: references('plans', text()),
  createdAt: integer(),
  status: initially('active', text<TenantStatus>()),
}).indexedBy({
  tenantsInactive: "(id) WHERE status <> 'active'",
  // `listWeights` (tenants/store.ts).
  tenantsOfPlan: '(plan)',
});
export type TenantRow = Row<typeof tenants>;

/** Written by tenants/store.ts: emails accepted in a calendar month (UTC), of tenants whose plan has a limit. */
export const usage = clusteredTable({
  tenantId: key(references('tenants', id('ten'))),
  /** Calendar month (UTC), such as `2026-11`. */
  month: key(text()),
  emails: integer(),
});
export type UsageRow = Row<typeof usage>;

export type Permission = 'full_access' | 'sending_access' | 'read_only';

/** What a key sends only once a person has approved it: marketing mail, or all of its mail. */
export type RequiredApproval = 'broadcasts' | 'broadcasts_and_emails';

/** Written by tenants/store.ts. */
export const apiKeys = table({
  id: key(id('key')),
  tenantId: references('tenants', id('ten')),
  name: text(),
  mode: text<'live' | 'test'>(),
  permission: text<Permission>(),
  /** The one domain that the key may send from; null allows every domain of its tenant. */
  domainId: nullable(id('dom')),
  /** JSON list of the addresses and CIDR blocks from which the key may be used; null allows every address. */
  allowedIps: nullable(text()),
  /** The 8 characters after the prefix. Keys are looked up by them. */
  hint: text(),
  /** SHA-256 hash of the whole token, in hex. */
  tokenHash: unique(text()),
  createdAt: integer(),
  lastUsedAt: nullable(integer()),
  expiresAt: nullable(integer()),
  revokedAt: nullable(integer()),
  /** Null for a key whose mail waits for nobody. */
  requiresApproval: nullable(text<RequiredApproval>()),
  /** The one mailbox whose messages the key reaches, and nothing else; null for a key of the tenant. */
  mailboxId: belongsTo('mailboxes', nullable(id('mbx'))),
  /** The mailbox of the member that the key of a shared mailbox is for; null for the others. */
  memberId: belongsTo('mailboxes', nullable(id('mbx'))),
}).indexedBy({
  apiKeysByHint: '(hint)',
  apiKeysByTenant: '(tenantId, id)',
  apiKeysInUse: '(tenantId, mode, id) WHERE revokedAt IS NULL',
  apiKeysByExpiry: '(tenantId, expiresAt) WHERE revokedAt IS NULL',
  apiKeysByMailbox: '(mailboxId, id) WHERE mailboxId IS NOT NULL',
});
export type ApiKeyRow = Row<typeof apiKeys>;

/** Written by branding/store.ts: how public pages show the sender to the readers of a tenant. Colours are written as `#rrggbb`. */
export const brandings = table({
  tenantId: key(references('tenants', id('ten'))),
  name: nullable(text()),
  color: nullable(text()),
  textColor: nullable(text()),
  /** Colours of the dark page; null for those of the light one. */
  darkColor: nullable(text()),
  darkTextColor: nullable(text()),
  /** Hash of the logo, which its address contains; null without a logo. */
  logoHash: nullable(text()),
  logoWidth: nullable(integer()),
  logoHeight: nullable(integer()),
  updatedAt: integer(),
  /** The logo as PNG. It comes last, so that pages do not read past it. */
  logo: nullable(bytes()),
}).indexedBy({
  brandingsByLogo: '(logoHash)',
});
export type BrandingRow = Row<typeof brandings>;
