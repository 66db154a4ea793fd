import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type {
  Approval,
  ApproveBroadcastBody,
  Broadcast,
  BroadcastPreflight,
  BroadcastPreview,
  BroadcastProvider,
  BroadcastRecipient,
  BroadcastSummary,
  BroadcastTest,
  ClickedLink,
  CreateBroadcastBody,
  DeclineBroadcastBody,
  Export,
  ExportBroadcastRecipientsBody,
  ListBroadcastRecipientsQuery,
  ListBroadcastsQuery,
  PreviewBroadcastQuery,
  TestBroadcastBody,
  UpdateBroadcastBody,
} from '../types.ts';

export class Broadcasts extends Resource {
  /** Approve a broadcast. */
  approve(id: string, body: ApproveBroadcastBody, options?: CallOptions): Promise<Approval> {
    return this._send('POST', path`/v1/broadcasts/${id}/approve`, options, body);
  }

  /** Cancel a broadcast. */
  cancel(id: string, options?: CallOptions): Promise<Broadcast> {
    return this._send('POST', path`/v1/broadcasts/${id}/cancel`, options);
  }

  /** Create a broadcast. */
  create(body: CreateBroadcastBody, options?: CallOptions): Promise<Broadcast> {
    return this._send('POST', path`/v1/broadcasts`, options, body);
  }

  /** Decline a broadcast. */
  decline(id: string, body: DeclineBroadcastBody, options?: CallOptions): Promise<Approval> {
    return this._send('POST', path`/v1/broadcasts/${id}/decline`, options, body);
  }

  /** Delete a broadcast. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/broadcasts/${id}`, options);
  }

  /** Export the tracked links of a broadcast to a CSV file. */
  exportClickedLinks(id: string, options?: CallOptions): Promise<Export> {
    return this._send('POST', path`/v1/broadcasts/${id}/clicked-links/exports`, options);
  }

  /** Export the recipients of a broadcast to a CSV file. */
  exportRecipients(id: string, body?: ExportBroadcastRecipientsBody, options?: CallOptions): Promise<Export> {
    return this._send('POST', path`/v1/broadcasts/${id}/recipients/exports`, options, body);
  }

  /** Retrieve a broadcast. */
  get(id: string, options?: CallOptions): Promise<Broadcast> {
    return this._get(path`/v1/broadcasts/${id}`, options);
  }

  /** List broadcasts. */
  list(query?: ListBroadcastsQuery, options?: CallOptions): List<BroadcastSummary> {
    return this._list(path`/v1/broadcasts`, options, query);
  }

  /** List the tracked links of a broadcast. */
  listClickedLinks(id: string, options?: CallOptions): List<ClickedLink> {
    return this._list(path`/v1/broadcasts/${id}/clicked-links`, options);
  }

  /** Count the recipients of a broadcast by provider. */
  listProviders(id: string, options?: CallOptions): List<BroadcastProvider> {
    return this._list(path`/v1/broadcasts/${id}/providers`, options);
  }

  /** List the recipients of a broadcast. */
  listRecipients(
    id: string,
    query?: ListBroadcastRecipientsQuery,
    options?: CallOptions,
  ): List<BroadcastRecipient> {
    return this._list(path`/v1/broadcasts/${id}/recipients`, options, query);
  }

  /** Pause a broadcast. */
  pause(id: string, options?: CallOptions): Promise<Broadcast> {
    return this._send('POST', path`/v1/broadcasts/${id}/pause`, options);
  }

  /** Show what a broadcast will be. */
  preflight(id: string, options?: CallOptions): Promise<BroadcastPreflight> {
    return this._get(path`/v1/broadcasts/${id}/preflight`, options);
  }

  /** Show a broadcast as a contact would read it. */
  preview(id: string, query?: PreviewBroadcastQuery, options?: CallOptions): Promise<BroadcastPreview> {
    return this._get(path`/v1/broadcasts/${id}/preview`, options, query);
  }

  /** Resume a paused broadcast. */
  resume(id: string, options?: CallOptions): Promise<Broadcast> {
    return this._send('POST', path`/v1/broadcasts/${id}/resume`, options);
  }

  /** Send a broadcast. */
  send(id: string, options?: CallOptions): Promise<Broadcast> {
    return this._send('POST', path`/v1/broadcasts/${id}/send`, options);
  }

  /** Send a test of a broadcast. */
  test(id: string, body: TestBroadcastBody, options?: CallOptions): Promise<BroadcastTest> {
    return this._send('POST', path`/v1/broadcasts/${id}/test`, options, body);
  }

  /** Update a broadcast. */
  update(id: string, body: UpdateBroadcastBody, options?: CallOptions): Promise<Broadcast> {
    return this._send('PATCH', path`/v1/broadcasts/${id}`, options, body);
  }
}
