/**
 * The data dictionary: endpoints of webhooks and what is posted to them. The conventions are those of tables.ts, which
 * lists every table.
 */
import type { Id } from '../system/ids.ts';

/** Written by webhooks/store.ts. */
export type WebhookEndpointRow = {
  id: Id<'wh'>;
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  /** The one domain whose events are posted; null for the events of the whole tenant. It never changes. */
  domainId: Id<'dom'> | null;
  url: string;
  events: string;
  description: string | null;
  status: 'enabled' | 'disabled';
  disabledReason: 'manual' | 'failures' | 'gone' | null;
  disabledAt: number | null;
  /** Time since which every post has failed. Null when the last one succeeded or none was made yet. */
  failingSince: number | null;
  /** Time at which the owner was warned; null when not yet. */
  warnedAt: number | null;
  /** Number of failed posts since the last success. Posts that failed while the endpoint was suspended count as one. */
  consecutiveFailures: number;
  /** Time before which nothing is posted to it. Null when its last post succeeded or none was made yet. */
  suspendedUntil: number | null;
  secretSealed: string;
  /** The previous secret. It also signs until `previousSecretUntil` if a rotation asked for an overlap. */
  previousSecretSealed: string | null;
  previousSecretUntil: number | null;
  createdAt: number;
  updatedAt: number;
};

/** Written by webhooks/deliveries/store.ts: one event for one endpoint. */
export type WebhookDeliveryRow = {
  id: Id<'whd'>;
  endpointId: Id<'wh'>;
  tenantId: Id<'ten'>;
  eventId: Id<'evt'>;
  /** `skipped` means that the delivery is not posted, or no longer, because its endpoint is disabled. */
  state: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  /** Time of the next post, or the end of its lease. Null once the delivery is final. */
  dueAt: number | null;
  /** Run of the daemon that leased the delivery; null when it is not leased. */
  runId: string | null;
  /** Status of the last response. This column and the next three describe the last post. */
  responseStatus: number | null;
  responseTimeMs: number | null;
  responseBody: string | null;
  error: string | null;
  createdAt: number;
};

/** Written by webhooks/deliveries/replays/store.ts. It holds the rest of a replay that is too large for one write. */
export type WebhookReplayRow = {
  endpointId: Id<'wh'>;
  state: 'failed' | 'skipped';
  /** The replay covers the deliveries after this id and before `beforeId`. */
  afterId: Id<'whd'>;
  beforeId: Id<'whd'>;
};
