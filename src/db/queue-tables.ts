/**
 * The data dictionary: what the operator has asked of the queue, and where mail for a domain goes. The conventions
 * are those of tables.ts, which lists every table.
 */
import { clusteredTable, count, flag, id, integer, key, nullable, type Row, table, text } from './table.ts';

export type QueueVerb = 'retry' | 'hold' | 'release' | 'fail' | 'cancel' | 'reroute';

/**
 * Written by queue/control/store.ts: what the operator has asked to do with the mail that a selection names. A background task goes
 * through the mail that waits; while the row is in force, the claim does the same with what the task has not reached.
 */
export const queueActions = table({
  id: key(id('qa')),
  verb: text<QueueVerb>(),
  /** The selection: mail for which every column that is not null holds. */
  emailId: nullable(text()),
  domain: nullable(text()),
  site: nullable(text()),
  tenantId: nullable(id('ten')),
  kind: nullable(text<'transactional' | 'broadcast'>()),
  class: nullable(text()),
  /** Words of the operator, which the sender of the mail sees. */
  reason: nullable(text()),
  /** Host or domain that a `reroute` sends mail to; null for the route of its own domain, and for other verbs. */
  target: nullable(text()),
  createdAt: integer(),
  /** Number of recipients that the selection named when the action was created. */
  matched: integer(),
  /** Number of recipients that were changed. */
  changed: count(),
  /**
   * Key of the delivery queue at which the next slice begins, and the place in it: a cursor of waiting mail, or the id of the last held
   * message (queue/control/find-store.ts). Both are empty at the beginning.
   */
  queueCursor: text(),
  messageCursor: text(),
  /** Time at which the task had gone through all mail; null before. */
  finishedAt: nullable(integer()),
  /** 1 while the claim obeys it: holds and reroutes until they are lifted, `fail` and `cancel` until nothing that they name is being sent. */
  isInForce: flag(),
}).indexedBy({
  queueActionsInForce: '(id) WHERE isInForce = 1',
});
export type QueueActionRow = Row<typeof queueActions>;

/** Written by queue/control/site-store.ts: the site at which mail for a domain was last deferred. */
export const domainSites = clusteredTable({
  domain: key(text()),
  site: text(),
  seenAt: integer(),
});
export type DomainSiteRow = Row<typeof domainSites>;

/** Written by queue/shaping/restrictions-store.ts: what back-off rules have imposed on the mail of sites. Rows that have ended are deleted. */
export const siteRestrictions = clusteredTable({
  /** The rule, the tenant, the source and the place (queue/shaping/restriction.ts). */
  id: key(text()),
  rule: text(),
  /** The key of a site, or `provider NAME` for all sites of one. */
  place: text(),
  /** The tenant whose mail rests there; null for the mail of all. */
  tenantId: nullable(id('ten')),
  source: nullable(text()),
  /** Lowered limits in JSON; null for a rest. */
  lowered: nullable(text()),
  /** The reply that was met last. */
  reason: text(),
  since: integer(),
  until: integer(),
});
export type SiteRestrictionRow = Row<typeof siteRestrictions>;

/** Written by queue/shaping/matches-store.ts: how often a back-off rule was met at a place. Rows that mean nothing any more are deleted. */
export const ruleMatches = clusteredTable({
  /** The rule, the tenant, the source and the place (queue/shaping/restriction.ts). */
  id: key(text()),
  rule: text(),
  place: text(),
  tenantId: nullable(id('ten')),
  source: nullable(text()),
  /** JSON list of the times of the matches that count, in Unix milliseconds. */
  times: text(),
  /** Time at which the rule last acted; null when it has not. */
  actedAt: nullable(integer()),
  /** Time from which the row means nothing. */
  staleAt: integer(),
});
export type RuleMatchesRow = Row<typeof ruleMatches>;
