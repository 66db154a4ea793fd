/**
 * One post to one endpoint, and what its answer means. The body is the same bytes at every attempt, its signature is
 * made anew each time (api.md 1.8).
 */
import type { App } from '../app.ts';
import type { EventRow } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import type { HttpResponse } from '../system/fetch/answer.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import { VERSION } from '../version.ts';
import type { DeliveryId } from './deliveries/store.ts';
import { signPayload, signStandard } from './signature.ts';
import type { Receiver } from './store.ts';

/** api.md 1.8: from the first packet to the last byte. */
export const POST_TIMEOUT_MS = 15_000;
/** What the log of deliveries keeps of an answer (api.md 1.8); nothing looks at more. */
const MAX_RESPONSE_BYTES = 4_096;
const MAX_ERROR_CHARACTERS = 500;

export type PostOutcome =
  | { kind: 'delivered'; response: ReceivedResponse }
  /** 410: the receiver wants no more (Standard Webhooks; api.md 1.8). */
  | { kind: 'gone'; response: ReceivedResponse }
  /** Any other answer, redirects included. `retryAfterMs`: what the receiver asked for. */
  | { kind: 'refused'; response: ReceivedResponse; retryAfterMs: number | undefined }
  /** No answer: a refused target, DNS, TCP, TLS, or a timeout. */
  | { kind: 'unreachable'; error: string };

export type ReceivedResponse = { status: number; timeMs: number; body: string };

export type Post = {
  id: DeliveryId;
  endpoint: Receiver;
  event: Pick<EventRow, 'id' | 'type'>;
  /** See `eventPayload`. */
  body: string;
};

export type PostingApp = Pick<App, 'fetch' | 'clock' | 'config' | 'sealer'>;

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
        'webhook-signature': signStandard(secrets, event.id, timestamp, body),
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

/** The new one first; two only while a rotation asked for overlap (decisions.md 15). */
function openSecrets(
  { sealer, clock }: Pick<App, 'sealer' | 'clock'>,
  { id, tenantId, secretSealed, previousSecretSealed, previousSecretUntil }: Receiver,
): string[] {
  const overlaps = previousSecretUntil !== null && clock.now() < previousSecretUntil;
  const sealed =
    overlaps && previousSecretSealed !== null ? [secretSealed, previousSecretSealed] : [secretSealed];
  return sealed.map((secret) => sealer.open(secret, [tenantId, id]));
}

export type PayloadSource = Pick<EventRow, 'id' | 'type' | 'mode' | 'createdAt' | 'data'>;

/** Specification 6, with the event's id and mode. `data` is spliced in as it was recorded. */
export function eventPayload(
  { id, type, createdAt, mode, data }: PayloadSource,
  extra: { test?: true } = {},
): string {
  const head = JSON.stringify({ id, type, createdAt: isoTime(createdAt), mode, ...extra });
  return `${head.slice(0, -1)},"data":${data}}`;
}

/** What went wrong, in words for the owner of the endpoint; null when nothing did. */
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

/** Whatever it claims to be, as UTF-8. A character that was cut in two at the end is left out. */
function readText(body: Buffer, truncated: boolean): string {
  return cleanForeignText(new TextDecoder().decode(body, { stream: truncated }), MAX_RESPONSE_BYTES);
}

/** RFC 9110 10.2.3: seconds or a date; anything else is as good as absent. */
function readRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  const [text] = [header].flat();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(dateMs - nowMs, 0);
}

/** Several addresses tried in vain give an error without a message of its own. */
function describe(error: unknown): string {
  const text = errorMessage(error) || errorCode(error) || 'unknown';
  return cleanForeignText(text, MAX_ERROR_CHARACTERS);
}
