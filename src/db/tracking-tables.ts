/** The data dictionary, part of the tracking of opens and clicks. The conventions are those of tables.ts. */
import type { Id } from '../system/ids.ts';

/** Written by tracking/engagements/store.ts: one row for each open or click of an email. Rows are deleted after
 * `retention.engagementDays`, together with the address and the user agent in their events. */
export type EngagementRow = {
  id: number;
  emailId: Id<'em'>;
  kind: 'open' | 'click';
  /** Number of the link in the email; null for an open. */
  link: number | null;
  /** The link that was followed; null for an open, and once the engagement is judged: its event has it. */
  url: string | null;
  /** Time of the first request. */
  at: number;
  ip: string | null;
  /** Start of the `User-Agent` field. Null when there was none, and once the engagement is judged. */
  userAgent: string | null;
  /** 1 when a request of the same client was a HEAD. */
  isHead: 0 | 1;
  /** 1 when a request of the same client was a prefetch. */
  isPrefetch: 0 | 1;
  /** Number of requests that this row stands for. */
  requests: number;
  /** Time at which the engagement is judged. Null once it has been. */
  dueAt: number | null;
  /** Says who made the request. Null until the engagement is judged. */
  verdict: 'human' | 'machine' | null;
  /** Why the verdict is `machine`; null otherwise. */
  reason: string | null;
  /** The event that reported the engagement. Null until it is judged. */
  eventId: Id<'evt'> | null;
};

/** Written by tracking/engagements/store.ts: the first open and the first click of each email by a person. They are kept
 * as long as the email. */
export type FirstEngagementRow = {
  emailId: Id<'em'>;
  kind: 'open' | 'click';
  at: number;
};

/** Written by tracking/links/store.ts: the addresses of tracked links. They are kept as long as their owner. */
export type TrackedLinkRow = {
  /** The broadcast whose copies share the links, or a single email. */
  ownerId: Id<'brd'> | Id<'em'>;
  /** Position of the link among those that are tracked. */
  number: number;
  /** The address, without character references. Placeholders in that of a broadcast are filled in at the click. */
  url: string;
};

/** Written by domains/store.ts: the hosts that a domain's tracked links have led to. Mail that was sent still names them. */
export type TrackingHostRow = { host: string; tenantId: Id<'ten'> };
