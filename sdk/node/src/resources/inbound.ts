import type { Download } from '../download.ts';
import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path, type Transport } from '../transport.ts';
import type {
  CreateInboundRouteBody,
  InboundMessage,
  InboundMessageSummary,
  InboundRoute,
  InboundRouteWithSecret,
  ListInboundMessagesQuery,
  ListInboundRoutesQuery,
  UpdateInboundRouteBody,
  WebhookTestResult,
} from '../types.ts';

export class InboundMessages extends Resource {
  /** Retrieve an inbound message. */
  get(id: string, options?: CallOptions): Promise<InboundMessage> {
    return this._get(path`/v1/inbound/messages/${id}`, options);
  }

  /** Download an attachment of an inbound message. */
  getAttachment(id: string, number: number | string, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/inbound/messages/${id}/attachments/${number}`, options);
  }

  /** Download an inbound message. */
  getRaw(id: string, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/inbound/messages/${id}/raw`, options);
  }

  /** List inbound messages. */
  list(query?: ListInboundMessagesQuery, options?: CallOptions): List<InboundMessageSummary> {
    return this._list(path`/v1/inbound/messages`, options, query);
  }

  /** Post an inbound message again. */
  replay(id: string, options?: CallOptions): Promise<InboundMessage> {
    return this._send('POST', path`/v1/inbound/messages/${id}/replay`, options);
  }
}

export class InboundRoutes extends Resource {
  /** Create an inbound route. */
  create(body: CreateInboundRouteBody, options?: CallOptions): Promise<InboundRouteWithSecret> {
    return this._send('POST', path`/v1/inbound/routes`, options, body);
  }

  /** Delete an inbound route. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/inbound/routes/${id}`, options);
  }

  /** Retrieve an inbound route. */
  get(id: string, options?: CallOptions): Promise<InboundRoute> {
    return this._get(path`/v1/inbound/routes/${id}`, options);
  }

  /** List inbound routes. */
  list(query?: ListInboundRoutesQuery, options?: CallOptions): List<InboundRoute> {
    return this._list(path`/v1/inbound/routes`, options, query);
  }

  /** Post a sample message to an inbound route. */
  test(id: string, options?: CallOptions): Promise<WebhookTestResult> {
    return this._send('POST', path`/v1/inbound/routes/${id}/test`, options);
  }

  /** Update an inbound route. */
  update(id: string, body: UpdateInboundRouteBody, options?: CallOptions): Promise<InboundRoute> {
    return this._send('PATCH', path`/v1/inbound/routes/${id}`, options, body);
  }
}

export class Inbound extends Resource {
  readonly messages: InboundMessages;
  readonly routes: InboundRoutes;

  constructor(transport: Transport) {
    super(transport);
    this.messages = new InboundMessages(transport);
    this.routes = new InboundRoutes(transport);
  }
}
