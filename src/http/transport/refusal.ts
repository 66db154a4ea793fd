/** How a refusal looks in HTTP, whatever the app serves: its status and its headers. */
import type { FastifyError, FastifyReply } from 'fastify';
import { AppError, type ErrorCode, notFound } from '../../system/errors.ts';

/** Every `type` that an error of this API has. */
export type AnyCode = ErrorCode | 'internal_error';

const STATUS = {
  validation_error: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  restricted_api_key: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  idempotency_in_progress: 409,
  already_exists: 409,
  invalid_state: 409,
  domain_in_use: 409,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  domain_not_verified: 422,
  suppressed_recipient: 422,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  unavailable: 503,
  interrupted: 503,
} as const satisfies Record<AnyCode, number>;

/** Every code. */
export const ANY_CODES = Object.keys(STATUS);

/** Default time to retry after. A shortage of memory usually ends within seconds. */
const UNAVAILABLE_RETRY_AFTER_SECONDS = 2;

/** Returns the HTTP status of a code. */
export function statusOf(code: AnyCode): number {
  return STATUS[code];
}

/** Sets the status and the headers of a refusal. */
export function startRefusal(reply: FastifyReply, { code, options }: AppError): void {
  const unavailable = code === 'unavailable' ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined;
  const { retryAfterSeconds = unavailable } = options;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  if (STATUS[code] === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(STATUS[code]);
}

/**
 * Returns the refusal that an error of the framework means; undefined for a bug. `mediaType` is what bodies are sent as.
 */
export function asTransportRefusal(error: unknown, mediaType: string): AppError | undefined {
  if (error instanceof AppError) return error;
  if (!isFastifyError(error)) return undefined;
  switch (error.statusCode) {
    case 413:
      return new AppError('payload_too_large', 'The request body is too large');
    case 415:
      return new AppError('unsupported_media_type', `The body must be sent as ${mediaType}`);
    // A path parameter that is longer than any id or address names nothing.
    case 414:
      return notFound('Path');
    case 400:
      return new AppError('validation_error', `The request cannot be read: ${error.message}`);
    default:
      return undefined;
  }
}

/** Returns true for an error that Fastify has made. */
export function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && ('statusCode' in error || 'validation' in error);
}

/** Returns the envelope of an error without further fields. */
export function problemOf(type: AnyCode, message: string, requestId: string) {
  return { error: { type, message, requestId } };
}
