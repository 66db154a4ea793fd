import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path, type Transport } from '../transport.ts';
import type {
  CountWebhookReplayQuery,
  CreateWebhookEndpointBody,
  ListWebhookDeliveriesQuery,
  ListWebhookEndpointsQuery,
  ReplayWebhookDeliveriesBody,
  RotateWebhookSecretBody,
  TestWebhookEndpointBody,
  UpdateWebhookEndpointBody,
  WebhookDelivery,
  WebhookDeliveryWithBody,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookReplay,
  WebhookReplayCount,
  WebhookTestResult,
} from '../types.ts';
import { sign, verify } from '../webhooks.ts';

export class WebhooksDeliveries extends Resource {
  /** Retrieve a webhook delivery. */
  get(webhookId: string, id: string, options?: CallOptions): Promise<WebhookDeliveryWithBody> {
    return this._get(path`/v1/webhooks/${webhookId}/deliveries/${id}`, options);
  }

  /** List webhook deliveries. */
  list(webhookId: string, query?: ListWebhookDeliveriesQuery, options?: CallOptions): List<WebhookDelivery> {
    return this._list(path`/v1/webhooks/${webhookId}/deliveries`, options, query);
  }

  /** Post a delivery again. */
  replay(webhookId: string, id: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this._send('POST', path`/v1/webhooks/${webhookId}/deliveries/${id}/replay`, options);
  }
}

export class Webhooks extends Resource {
  /** Verifies a post and returns its event. It asks no server. */
  readonly verify: typeof verify = verify;
  /** Signs a body, for tests of a receiver. It asks no server. */
  readonly sign: typeof sign = sign;
  readonly deliveries: WebhooksDeliveries;

  constructor(transport: Transport) {
    super(transport);
    this.deliveries = new WebhooksDeliveries(transport);
  }

  /** Create a webhook endpoint. */
  create(body: CreateWebhookEndpointBody, options?: CallOptions): Promise<WebhookEndpointWithSecret> {
    return this._send('POST', path`/v1/webhooks`, options, body);
  }

  /** Delete a webhook endpoint. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/webhooks/${id}`, options);
  }

  /** Retrieve a webhook endpoint. */
  get(id: string, options?: CallOptions): Promise<WebhookEndpoint> {
    return this._get(path`/v1/webhooks/${id}`, options);
  }

  /** List webhook endpoints. */
  list(query?: ListWebhookEndpointsQuery, options?: CallOptions): List<WebhookEndpoint> {
    return this._list(path`/v1/webhooks`, options, query);
  }

  /** Count failed and skipped deliveries. */
  countReplay(
    id: string,
    query?: CountWebhookReplayQuery,
    options?: CallOptions,
  ): Promise<WebhookReplayCount> {
    return this._get(path`/v1/webhooks/${id}/replay`, options, query);
  }

  /** Post failed and skipped deliveries again. */
  replay(id: string, body: ReplayWebhookDeliveriesBody, options?: CallOptions): Promise<WebhookReplay> {
    return this._send('POST', path`/v1/webhooks/${id}/replay`, options, body);
  }

  /** Replace the secret of a webhook endpoint. */
  rotateSecret(
    id: string,
    body?: RotateWebhookSecretBody,
    options?: CallOptions,
  ): Promise<WebhookEndpointWithSecret> {
    return this._send('POST', path`/v1/webhooks/${id}/rotate-secret`, options, body);
  }

  /** Post a sample event to a webhook endpoint. */
  test(id: string, body?: TestWebhookEndpointBody, options?: CallOptions): Promise<WebhookTestResult> {
    return this._send('POST', path`/v1/webhooks/${id}/test`, options, body);
  }

  /** Update a webhook endpoint. */
  update(id: string, body: UpdateWebhookEndpointBody, options?: CallOptions): Promise<WebhookEndpoint> {
    return this._send('PATCH', path`/v1/webhooks/${id}`, options, body);
  }
}
