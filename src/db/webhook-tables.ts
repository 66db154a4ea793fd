/**
 * The data dictionary: endpoints of webhooks and what is posted to them. The conventions are those of tables.ts, which
 * lists every table.
 */

import { RECEIVER_COLUMNS, RESPONSE_COLUMNS } from './post-columns.ts';
import { id, initially, integer, key, nullable, type Row, references, table, text } from './table.ts';

/** Shape of the posts of an endpoint: ours, or that of Resend's webhooks. */
export type WebhookFormat = 'default' | 'resend';

/** Written by webhooks/store.ts. */
export const webhookEndpoints = table({
  id: key(id('wh')),
  tenantId: references('tenants', id('ten')),
  mode: text<'live' | 'test'>(),
  /** The one domain whose events are posted; null for the events of the whole tenant. It never changes. */
  domainId: nullable(id('dom')),
  url: text(),
  events: text(),
  description: nullable(text()),
  status: text<'enabled' | 'disabled'>(),
  ...RECEIVER_COLUMNS,
  /** The previous secret. It also signs until `previousSecretUntil` if a rotation asked for an overlap. */
  previousSecretSealed: nullable(text()),
  previousSecretUntil: nullable(integer()),
  createdAt: integer(),
  updatedAt: integer(),
  /** Shape of what is posted. It never changes. */
  format: initially('default', text<WebhookFormat>()),
}).indexedBy({
  webhookEndpointsByTenant: '(tenantId, mode, id)',
  webhookEndpointsRotating: '(previousSecretUntil) WHERE previousSecretUntil IS NOT NULL',
});
export type WebhookEndpointRow = Row<typeof webhookEndpoints>;

/** Written by webhooks/deliveries/store.ts: one event for one endpoint. */
export const webhookDeliveries = table({
  id: key(id('whd')),
  endpointId: id('wh'),
  tenantId: id('ten'),
  eventId: id('evt'),
  /** `skipped` means that the delivery is not posted, or no longer, because its endpoint is disabled. */
  state: text<'pending' | 'delivered' | 'failed' | 'skipped'>(),
  attempts: integer(),
  ...RESPONSE_COLUMNS,
  createdAt: integer(),
}).indexedBy({
  webhookDeliveriesByEndpoint: '(endpointId, id)',
  webhookDeliveriesByState: '(endpointId, state, id)',
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
