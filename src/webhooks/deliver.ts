/**
 * One post to one endpoint, and what its answer means. The body is the same bytes at every attempt, its signature is
 * made anew each time (api.md 1.8).
 */
import type { App } from '../app.ts';
import { isoTime } from '../system/clock.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import type { HttpResponse } from '../system/fetch.ts';
import { VERSION } from '../version.ts';
import { signPayload, signStandard } from './signature.ts';
import type { LeasedDelivery } from './store.ts';

/** api.md 1.8: from the first packet to the last byte. */
export const POST_TIMEOUT_MS = 15_000;
/** Read so that the connection can serve the next post; nothing looks at more (api.md 1.8). */
const MOST_RESPONSE_BYTES = 4_096;
const MOST_ERROR_CHARACTERS = 500;

export type PostOutcome =
  | { kind: 'delivered'; status: number }
  /** 410: the receiver wants no more (Standard Webhooks; api.md 1.8). */
  | { kind: 'gone'; status: number }
  /** Any other answer, redirects included. `retryAfterMs`: what the receiver asked for. */
  | { kind: 'refused'; status: number; retryAfterMs: number | undefined }
  /** No answer: a refused target, DNS, TCP, TLS, or a timeout. */
  | { kind: 'unreachable'; error: string };

export async function post(
  app: Pick<App, 'fetch' | 'clock' | 'config' | 'sealer'>,
  { id, endpoint, event }: LeasedDelivery,
): Promise<PostOutcome> {
  const secret = app.sealer.open(endpoint.secretSealed, [endpoint.tenantId, endpoint.id]);
  const body = payload(event);
  const timestamp = Math.floor(app.clock.now() / 1_000);
  try {
    const response = await app.fetch({
      method: 'POST',
      url: endpoint.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': `Postrider/${VERSION}`,
        [app.config.webhooks.signatureHeader]: signPayload(secret, timestamp, body),
        'x-service-event': event.type,
        'x-service-delivery': id,
        'webhook-id': event.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signStandard(secret, event.id, timestamp, body),
      },
      body,
      timeoutMs: POST_TIMEOUT_MS,
      maxResponseBytes: MOST_RESPONSE_BYTES,
    });
    return judge(response, app.clock.now());
  } catch (error) {
    return { kind: 'unreachable', error: describe(error) };
  }
}

/** Specification 6, with the event's id and mode. `data` is spliced in as it was recorded. */
export function payload({ id, type, createdAt, mode, data }: LeasedDelivery['event']): string {
  const head = JSON.stringify({ id, type, createdAt: isoTime(createdAt), mode });
  return `${head.slice(0, -1)},"data":${data}}`;
}

function judge({ status, headers }: HttpResponse, nowMs: number): PostOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === 410) return { kind: 'gone', status };
  return { kind: 'refused', status, retryAfterMs: readRetryAfter(headers['retry-after'], nowMs) };
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
  return text.slice(0, MOST_ERROR_CHARACTERS);
}
