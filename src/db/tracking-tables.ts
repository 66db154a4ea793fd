/**
 * The data dictionary, part of the tracking of opens and clicks, and of the counters behind `GET /v1/metrics`. The conventions are
 * those of tables.ts.
 */

import type { Id } from '../system/ids.ts';
import {
  clusteredTable,
  count,
  flag,
  id,
  integer,
  key,
  nullable,
  type Row,
  rowNumber,
  table,
  text,
} from './table.ts';

/** Written by tracking/engagements/store.ts: one row for each open or click of an email. Rows are deleted after
 * `retention.engagementDays`, together with the address and the user agent in their events. */
export const engagements = table({
  id: rowNumber(),
  emailId: id('em'),
  kind: text<'open' | 'click'>(),
  /** Number of the link in the email; null for an open. */
  link: nullable(integer()),
  /** The link that was followed; null for an open, and once the engagement is judged: its event has it. */
  url: nullable(text()),
  /** Time of the first request. */
  at: integer(),
  ip: nullable(text()),
  /** Start of the `User-Agent` field. Null when there was none, and once the engagement is judged. */
  userAgent: nullable(text()),
  /** 1 when a request of the same client was a HEAD. */
  isHead: flag(),
  /** 1 when a request of the same client was a prefetch. */
  isPrefetch: flag(),
  /** Number of requests that this row stands for. */
  requests: integer(),
  /** Time at which the engagement is judged. Null once it has been. */
  dueAt: nullable(integer()),
  /** Says who made the request. Null until the engagement is judged. */
  verdict: nullable(text<'human' | 'machine'>()),
  /** Why the verdict is `machine`; null otherwise. */
  reason: nullable(text()),
  /** The event that reported the engagement. Null until it is judged. */
  eventId: nullable(id('evt')),
}).indexedBy({
  engagementsByEmail: '(emailId, kind, link, at)',
  engagementsDue: '(dueAt) WHERE dueAt IS NOT NULL',
});
export type EngagementRow = Row<typeof engagements>;

/** Written by tracking/engagements/store.ts: the first open and the first click of each email by a person. They are kept
 * as long as the email. */
export const firstEngagements = clusteredTable({
  emailId: key(id('em')),
  kind: key(text<'open' | 'click'>()),
  at: integer(),
});
export type FirstEngagementRow = Row<typeof firstEngagements>;

/** Written by tracking/links/store.ts: the addresses of tracked links. They are kept as long as their owner. */
export const trackedLinks = clusteredTable({
  /** The broadcast whose copies share the links, or a single email. */
  ownerId: key(text<Id<'brd'> | Id<'em'>>()),
  /** Position of the link among those that are tracked. */
  number: key(integer()),
  /** The address, without character references. Placeholders in that of a broadcast are filled in at the click. */
  url: text(),
});
export type TrackedLinkRow = Row<typeof trackedLinks>;

/**
 * Written by domains/tracking-host-store.ts: the hosts that a domain's tracked links have led to. Mail that was sent still names them. Several
 * domains may name one host, which belongs to one of them.
 */
export const trackingHosts = clusteredTable({
  host: key(text()),
  domainId: key(id('dom')),
  /** Time at which the host was first found right for the domain. */
  since: integer(),
}).indexedBy({ trackingHostsByDomain: '(domainId, since)' });
export type TrackingHostRow = Row<typeof trackingHosts>;

/** Written by counts/store.ts: how often each event happened in an hour, and the same in a day (UTC). Both rows change in
 * the write of the event. A day has a row of its own, because a report of a year would otherwise add up its 8,760 hours.
 */
export const counts = clusteredTable({
  tenantId: key(id('ten')),
  mode: key(text<'live' | 'test'>()),
  span: key(text<'hour' | 'day'>()),
  /** Beginning of the hour or the day. */
  start: key(integer()),
  kind: key(text<'transactional' | 'broadcast'>()),
  /** Domain of the sender; empty for the sandbox domain, and for what belongs to no email. */
  domainId: key(text<Id<'dom'> | ''>()),
  /** The broadcast that the mail is a copy of; empty for other mail. */
  broadcastId: key(text<Id<'brd'> | ''>()),
  /** Group of the recipient's domain (counts/mailbox-groups.ts). */
  provider: key(text()),
  /** Recipients that mail was accepted for, without those that were suppressed at once. */
  accepted: count(),
  delivered: count(),
  bouncedPermanent: count(),
  bouncedTransient: count(),
  bouncedUndetermined: count(),
  complained: count(),
  /** Recipients whose delivery was deferred at least once. */
  delayed: count(),
  suppressed: count(),
  canceled: count(),
  /** Opens by people. */
  opened: count(),
  /** Emails that a person opened for the first time. */
  uniqueOpened: count(),
  machineOpened: count(),
  clicked: count(),
  uniqueClicked: count(),
  machineClicked: count(),
  /** Contacts that were unsubscribed. */
  unsubscribed: count(),
}).indexedBy({
  countsByStart: '(start)',
});
export type CountRow = Row<typeof counts>;
