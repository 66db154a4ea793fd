/** The data dictionary: routes of outgoing mail. The conventions are those of tables.ts, which lists every table. */
import {
  clusteredTable,
  flag,
  id,
  integer,
  key,
  nullable,
  type Row,
  references,
  table,
  text,
} from './table.ts';

/**
 * Written by outbound-routes/store.ts: a route of the operator, for all mail, or for that of a tenant, to a domain, or both. Routes
 * of the configuration are not stored.
 */
export const outboundRoutes = table({
  name: key(text()),
  /** Tenant whose mail takes the route; null for that of all tenants. */
  tenantId: references('tenants', nullable(id('ten'))),
  /** Domain of the recipients whose mail takes the route; null for all domains. */
  domain: nullable(text()),
  /** JSON list of the hosts of the relay, in the order in which they are tried; null for delivery by MX. */
  hosts: nullable(text()),
  port: integer(),
  tls: text<'starttls' | 'implicit'>(),
  /** Name that the certificates of all hosts are valid for; null when each has its own name. */
  tlsName: nullable(text()),
  /** The only authorities that are trusted, in PEM; null for those of the system. */
  authorities: nullable(text()),
  /** 1 when the hosts may have private addresses. */
  isPrivate: flag(),
  user: nullable(text()),
  /** Sealed with the name of the route as its context. */
  passwordSealed: nullable(text()),
  /** Maximum number of concurrent connections; null for that of every site. */
  connections: nullable(integer()),
  /** Maximum number of recipients per minute; null for no limit. */
  recipientsPerMinute: nullable(integer()),
  createdAt: integer(),
  updatedAt: integer(),
  /** The operator's word on TLS with MX hosts; null when the policies of the domain decide, and for relays. */
  tlsPolicy: nullable(text<'required-verified' | 'required' | 'opportunistic' | 'none'>()),
}).indexedBy({
  outboundRoutesByMail: "UNIQUE (coalesce(tenantId, ''), coalesce(domain, ''))",
});
export type OutboundRouteRow = Row<typeof outboundRoutes>;

/**
 * Written by queue/sources/store.ts: an address of a source from which no mail leaves at present. A row of other settings than those
 * of the source means nothing.
 */
export const sourceSuspensions = clusteredTable({
  source: key(text()),
  address: key(text()),
  /** Settings of the source at that time, shortened. */
  fingerprint: text(),
  /** A sentence that says what is wrong. */
  reason: text(),
  since: integer(),
  /** Time at which the address is tried again. */
  until: integer(),
});
export type SourceSuspensionRow = Row<typeof sourceSuspensions>;

/** Written by queue/sources/store.ts: a source that the operator has suspended, whatever its settings are. */
export const operatorSuspensions = clusteredTable({
  source: key(text()),
  /** Words of the operator. */
  reason: nullable(text()),
  since: integer(),
});
export type OperatorSuspensionRow = Row<typeof operatorSuspensions>;

/** Written by queue/sources/warm-up/store.ts: a source that is being warmed up. */
export const sourceWarmUps = clusteredTable({
  source: key(text()),
  /** Name of the curve in the table of curves. */
  curve: text(),
  startedAt: integer(),
});
export type SourceWarmUpRow = Row<typeof sourceWarmUps>;

/** Written by queue/sources/warm-up/store.ts: what a source that is being warmed up has sent to a provider in a day. */
export const sourceWarmUpCounts = clusteredTable({
  source: key(text()),
  provider: key(text()),
  /** Number of the day in UTC since 1970. */
  day: integer(),
  /** Number of recipients whose first attempt left from the source on the day. */
  firstAttempts: integer(),
});
export type SourceWarmUpCountRow = Row<typeof sourceWarmUpCounts>;
