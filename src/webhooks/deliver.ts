/** Posts an event to an endpoint and interprets the answer. Every attempt sends the same body with a new signature. */

import type { EventRow } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import type { HttpResponse } from '../system/fetch/answer.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import type { PartApp } from '../thread-app.ts';
import { VERSION } from '../version.ts';
import type { DeliveryId } from './deliveries/store.ts';
import { signPayload, signStandard } from './signature.ts';
import type { Receiver } from './store.ts';

/** Time limit of a post, from the first packet to the last byte. */
const POST_TIMEOUT_MS = 15_000;
/** Maximum number of bytes of an answer that the log of deliveries keeps. Our own limit. */
const MAX_RESPONSE_BYTES = 4_096;
const MAX_ERROR_CHARACTERS = 500;

export type PostOutcome =
  | { kind: 'delivered'; response: ReceivedResponse }
  /** A 410 means that the receiver wants no more posts (Standard Webhooks). */
  | { kind: 'gone'; response: ReceivedResponse }
  /** Any other answer, redirects included. `retryAfterMs` is the delay that the receiver asked for. */
  | { kind: 'refused'; response: ReceivedResponse; retryAfterMs: number | undefined }
  /** There was no answer: a refused target, an error of DNS, TCP or TLS, or a timeout. */
  | { kind: 'unreachable'; error: string };

type ReceivedResponse = { status: number; timeMs: number; body: string };

export type Post = {
  id: DeliveryId;
  endpoint: Receiver;
  event: Pick<EventRow, 'id' | 'type'>;
  /** The body that `eventPayload` returns. */
  body: string;
};

export type PostingApp = Pick<PartApp, 'fetch' | 'clock' | 'config' | 'sealer'>;

/** Posts the body to the endpoint. It never throws for an error of the receiver. */
export async function post(app: PostingApp, { id, endpoint, event, body }: Post): Promise<PostOutcome> {
  const secrets = openSecrets(app, endpoint);
  const timestamp = Math.floor(app.clock.now() / 1_000);
  const startedAt = app.clock.elapsed();
  try {
    const response = await app.fetch({
      method: 'POST',
      url: endpoint.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': `Postrider/${VERSION}`,
        [app.config.webhooks.signatureHeader]: signPayload(secrets, timestamp, body),
        'x-service-event': event.type,
        'x-service-delivery': id,
        'webhook-id': event.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signStandard(secrets, {
          id: event.id,
          timestampSeconds: timestamp,
          body,
        }),
      },
      body,
      timeoutMs: POST_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
    return judge(response, app.clock.elapsed() - startedAt, app.clock.now());
  } catch (error) {
    return { kind: 'unreachable', error: describe(error) };
  }
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

/** Returns the error of a post as text for the owner of the endpoint; null when there was none. */
export function errorOf(outcome: PostOutcome): string | null {
  if (outcome.kind === 'delivered') return null;
  return outcome.kind === 'unreachable' ? outcome.error : `The receiver answered ${outcome.response.status}`;
}

function judge(
  { status, headers, body, truncated }: HttpResponse,
  elapsedMs: number,
  nowMs: number,
): PostOutcome {
  const response = { status, timeMs: Math.round(elapsedMs), body: readText(body, truncated) };
  if (status >= 200 && status < 300) return { kind: 'delivered', response };
  if (status === 410) return { kind: 'gone', response };
  return { kind: 'refused', response, retryAfterMs: readRetryAfter(headers['retry-after'], nowMs) };
}

/** Returns the body as UTF-8, whatever its declared charset is. A character that was cut at the end is left out. */
function readText(body: Buffer, truncated: boolean): string {
  return cleanForeignText(new TextDecoder().decode(body, { stream: truncated }), MAX_RESPONSE_BYTES);
}

/** Returns the requested delay, which is in seconds or a date (RFC 9110 10.2.3). Any other value is ignored. */
function readRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  const [text] = [header].flat();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(dateMs - nowMs, 0);
}

/** Returns the text of an error. The error of several failed addresses has no message of its own. */
function describe(error: unknown): string {
  const text = errorMessage(error) || errorCode(error) || 'unknown';
  return cleanForeignText(text, MAX_ERROR_CHARACTERS);
}
