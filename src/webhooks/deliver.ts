/** Posts an event to an endpoint. Every attempt sends the same body with a new signature. */

import type { EventRow } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';
import type { PartApp } from '../thread-app.ts';
import type { DeliveryId } from './deliveries/store.ts';
import { type PostOutcome, postSigned } from './posting/post.ts';
import { keysOf } from './posting/signature.ts';
import type { Receiver } from './store.ts';

export type Post = {
  id: DeliveryId;
  endpoint: Receiver;
  event: Pick<EventRow, 'id' | 'type'>;
  /** The body that `eventPayload` returns. */
  body: string;
};

/** Posts the body to the endpoint. It never throws for an error of the receiver. */
export async function post(app: PartApp, { id, endpoint, event, body }: Post): Promise<PostOutcome> {
  return postSigned(app, {
    url: endpoint.url,
    keys: keysOf(endpoint, () => openSecrets(app, endpoint)),
    deliveryId: id,
    messageId: event.id,
    headers: { 'x-service-event': event.type },
    body,
  });
}

/**
 * Returns the secrets that sign a post, the new one first. There are two only while a rotation asked for an overlap.
 */
function openSecrets(
  { sealer, clock }: Pick<PartApp, 'sealer' | 'clock'>,
  { id, tenantId, secretSealed, previousSecretSealed, previousSecretUntil }: Receiver,
): string[] {
  const overlaps = previousSecretUntil !== null && clock.now() < previousSecretUntil;
  const sealed =
    overlaps && previousSecretSealed !== null ? [secretSealed, previousSecretSealed] : [secretSealed];
  return sealed.map((secret) => sealer.open(secret, [tenantId, id]));
}

type PayloadSource = Pick<EventRow, 'id' | 'type' | 'mode' | 'createdAt' | 'data'>;

/** Returns the body of a post (specification 6), with the event's id and mode. `data` is the recorded JSON. */
export function eventPayload(
  { id, type, createdAt, mode, data }: PayloadSource,
  extra: { test?: true } = {},
): string {
  const head = JSON.stringify({ id, type, createdAt: isoTime(createdAt), mode, ...extra });
  return `${head.slice(0, -1)},"data":${data}}`;
}
