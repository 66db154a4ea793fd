/**
 * The data dictionary: endpoints of webhooks and what is posted to them. The conventions are those of tables.ts, which
 * lists every table.
 */
import { id, integer, key, nullable, type Row, table, text } from './table.ts';

/** Written by webhooks/store.ts. */
export const webhookEndpoints = table({
  id: id('wh'),
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  /** The one domain whose events are posted; null for the events of the whole tenant. It never changes. */
  domainId: nullable(id('dom')),
  url: text(),
  events: text(),
  description: nullable(text()),
  status: text<'enabled' | 'disabled'>(),
  disabledReason: nullable(text<'manual' | 'failures' | 'gone'>()),
  disabledAt: nullable(integer()),
  /** Time since which every post has failed. Null when the last one succeeded or none was made yet. */
  failingSince: nullable(integer()),
  /** Time at which the owner was warned; null when not yet. */
  warnedAt: nullable(integer()),
  /** Number of failed posts since the last success. Posts that failed while the endpoint was suspended count as one. */
  consecutiveFailures: integer(),
  /** Time before which nothing is posted to it. Null when its last post succeeded or none was made yet. */
  suspendedUntil: nullable(integer()),
  secretSealed: text(),
  /** The previous secret. It also signs until `previousSecretUntil` if a rotation asked for an overlap. */
  previousSecretSealed: nullable(text()),
  previousSecretUntil: nullable(integer()),
  createdAt: integer(),
  updatedAt: integer(),
});
export type WebhookEndpointRow = Row<typeof webhookEndpoints>;

/** Written by webhooks/deliveries/store.ts: one event for one endpoint. */
export const webhookDeliveries = table({
  id: id('whd'),
  endpointId: id('wh'),
  tenantId: id('ten'),
  eventId: id('evt'),
  /** `skipped` means that the delivery is not posted, or no longer, because its endpoint is disabled. */
  state: text<'pending' | 'delivered' | 'failed' | 'skipped'>(),
  attempts: integer(),
  /** Status of the last response. This column and the next three describe the last post. */
  responseStatus: nullable(integer()),
  responseTimeMs: nullable(integer()),
  responseBody: nullable(text()),
  error: nullable(text()),
  createdAt: integer(),
});
export type WebhookDeliveryRow = Row<typeof webhookDeliveries>;

/** Written by webhooks/deliveries/replays-store.ts. It holds the rest of a replay that is too large for one write. */
export const webhookReplays = table({
  endpointId: key(id('wh')),
  state: key(text<'failed' | 'skipped'>()),
  /** The replay covers the deliveries after this id and before `beforeId`. */
  afterId: id('whd'),
  beforeId: id('whd'),
});
export type WebhookReplayRow = Row<typeof webhookReplays>;
