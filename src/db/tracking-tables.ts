/** The data dictionary, part of the tracking of opens and clicks. The conventions are those of tables.ts. */

import type { Id } from '../system/ids.ts';
import { flag, id, integer, nullable, type Row, rowNumber, table, text } from './table.ts';

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
});
export type EngagementRow = Row<typeof engagements>;

/** Written by tracking/engagements/store.ts: the first open and the first click of each email by a person. They are kept
 * as long as the email. */
export const firstEngagements = table({
  emailId: id('em'),
  kind: text<'open' | 'click'>(),
  at: integer(),
});
export type FirstEngagementRow = Row<typeof firstEngagements>;

/** Written by tracking/links/store.ts: the addresses of tracked links. They are kept as long as their owner. */
export const trackedLinks = table({
  /** The broadcast whose copies share the links, or a single email. */
  ownerId: text<Id<'brd'> | Id<'em'>>(),
  /** Position of the link among those that are tracked. */
  number: integer(),
  /** The address, without character references. Placeholders in that of a broadcast are filled in at the click. */
  url: text(),
});
export type TrackedLinkRow = Row<typeof trackedLinks>;

/** Written by domains/store.ts: the hosts that a domain's tracked links have led to. Mail that was sent still names them. */
export const trackingHosts = table({ host: text(), tenantId: id('ten') });
export type TrackingHostRow = Row<typeof trackingHosts>;
