/** Posts an event to an endpoint. Every attempt sends the same body with a new signature. */

import type { EventRow } from '../db/tables.ts';
import type { WebhookFormat } from '../db/webhook-tables.ts';
import { isoTime } from '../system/clock.ts';
import type { PartApp } from '../thread-app.ts';
import type { DeliveryId } from './deliveries/store.ts';
import { type PostOutcome, postSigned } from './posting/post.ts';
import { openKey, type SigningKey } from './posting/signature.ts';
import { resendPayload } from './resend-format.ts';
import type { Receiver } from './store.ts';

export type Post = {
  id: DeliveryId;
  endpoint: Receiver;
  event: Pick<EventRow, 'id' | 'type'>;
  /** The body that `payloadFor` returns. */
  body: string;
};

/** Posts the body to the endpoint. It never throws for an error of the receiver. */
export async function post(app: PartApp, { id, endpoint, event, body }: Post): Promise<PostOutcome> {
  return postSigned(app, {
    url: endpoint.url,
    signaturePrefixes: SIGNATURE_PREFIXES[endpoint.format],
    keys: openKeys(app, endpoint),
    deliveryId: id,
    messageId: event.id,
    headers: { 'x-service-event': event.type },
    body,
  });
}

/** Returns the keys that sign a post, the new one first. There are two only while a rotation asked for an overlap. */
function openKeys(
  app: Pick<PartApp, 'sealer' | 'clock'>,
  { id, tenantId, secretSealed, previousSecretSealed, previousSecretUntil }: Receiver,
): SigningKey[] {
  const overlaps = previousSecretUntil !== null && app.clock.now() < previousSecretUntil;
  const sealed =
    overlaps && previousSecretSealed !== null ? [secretSealed, previousSecretSealed] : [secretSealed];
  return sealed.map((secret) => openKey(app, secret, [tenantId, id]));
}

type PayloadSource = Pick<EventRow, 'id' | 'type' | 'mode' | 'createdAt' | 'data'>;

/** Prefixes of the header fields with the signature of Standard Webhooks. Programs for Resend read those of Svix. */
const SIGNATURE_PREFIXES: Readonly<Record<WebhookFormat, readonly string[]>> = {
  default: ['webhook'],
  resend: ['webhook', 'svix'],
};

/** Returns the body of a post to an endpoint in its format. `data` of the event is the recorded JSON. */
export function payloadFor(
  { format }: Pick<Receiver, 'format'>,
  event: PayloadSource,
  extra: { test?: true } = {},
): string {
  return format === 'resend' ? resendPayload(event, extra) : eventPayload(event, extra);
}

/** Returns the body of a post (specification 6), with the event's id and mode. `data` is the recorded JSON. */
export function eventPayload(
  { id, type, createdAt, mode, data }: PayloadSource,
  extra: { test?: true } = {},
): string {
  const head = JSON.stringify({ id, type, createdAt: isoTime(createdAt), mode, ...extra });
  return `${head.slice(0, -1)},"data":${data}}`;
}
