/**
 * Makes one signed post to a URL of a tenant, and interprets the answer. Webhooks and inbound routes post in the same
 * way: through the guard against internal targets, without redirects, within a time limit, and with the same signatures.
 */

import { errorCode, errorMessage } from '../../system/errors.ts';
import type { HttpResponse } from '../../system/fetch/answer.ts';
import { readRetryAfter } from '../../system/fetch/retry-after.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import type { PartApp } from '../../thread-app.ts';
import { VERSION } from '../../version.ts';
import { type SigningKey, signPayload, signStandard } from './signature.ts';

/** Time limit of a post, from the first packet to the last byte. */
const POST_TIMEOUT_MS = 15_000;
/** Maximum number of bytes of an answer that the log of posts keeps. */
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

type SignedPost = {
  url: string;
  /** The keys that sign the post, the current one first. */
  keys: readonly SigningKey[];
  /** Id of the delivery, which all attempts share. */
  deliveryId: string;
  /** Id of the message in the sense of Standard Webhooks, which all attempts share. */
  messageId: string;
  /** Prefixes of the header fields of Standard Webhooks; by default `webhook` alone. */
  signaturePrefixes?: readonly string[];
  /** Further header fields, in lower case. */
  headers: Readonly<Record<string, string>>;
  /** JSON in UTF-8. */
  body: string | Uint8Array;
};

/** Posts the body, signed at the current time. It never throws for an error of the receiver. */
export async function postSigned(
  app: PartApp,
  { url, keys, deliveryId, messageId, signaturePrefixes = ['webhook'], headers, body }: SignedPost,
): Promise<PostOutcome> {
  const timestampSeconds = Math.floor(app.clock.now() / 1_000);
  const startedAt = app.clock.elapsed();
  const signature = signStandard(keys, { id: messageId, timestampSeconds, body });
  try {
    const response = await app.fetch({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': `Postrider/${VERSION}`,
        [app.config.webhooks.signatureHeader]: signPayload(keys, timestampSeconds, body),
        ...headers,
        'x-service-delivery': deliveryId,
        ...standardHeaders(signaturePrefixes, { messageId, timestampSeconds, signature }),
      },
      body,
      timeoutMs: POST_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
    return classify(response, app.clock.elapsed() - startedAt, app.clock.now());
  } catch (error) {
    return { kind: 'unreachable', error: describe(error) };
  }
}

/** Returns the header fields of Standard Webhooks, once with each prefix. */
function standardHeaders(
  prefixes: readonly string[],
  {
    messageId,
    timestampSeconds,
    signature,
  }: { messageId: string; timestampSeconds: number; signature: string },
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const prefix of prefixes) {
    headers[`${prefix}-id`] = messageId;
    headers[`${prefix}-timestamp`] = String(timestampSeconds);
    headers[`${prefix}-signature`] = signature;
  }
  return headers;
}

/** Returns the error of a post as text for the owner of the URL; null when there was none. */
export function errorOf(outcome: PostOutcome): string | null {
  if (outcome.kind === 'delivered') return null;
  return outcome.kind === 'unreachable' ? outcome.error : `The receiver answered ${outcome.response.status}`;
}

/** The fields that the log of posts keeps about the last answer. */
export type PostResult = {
  responseStatus: number | null;
  responseTimeMs: number | null;
  responseBody: string | null;
  error: string | null;
};

/** The fields of a post without an answer. */
export const NO_RESULT = { responseStatus: null, responseTimeMs: null, responseBody: null };

/** Returns the fields that the log of posts keeps about the answer. */
export function resultOf(outcome: PostOutcome): PostResult {
  const response = outcome.kind === 'unreachable' ? null : outcome.response;
  return {
    responseStatus: response?.status ?? null,
    responseTimeMs: response?.timeMs ?? null,
    responseBody: response?.body ?? null,
    error: errorOf(outcome),
  };
}

function classify(
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

/** Returns the text of an error. The error of several failed addresses has no message of its own. */
function describe(error: unknown): string {
  const text = errorMessage(error) || errorCode(error) || 'unknown';
  return cleanForeignText(text, MAX_ERROR_CHARACTERS);
}
