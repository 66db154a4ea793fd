/**
 * Idempotency (specification 8). A repeated request with the same key gets the same answer; a different request with
 * that key is refused.
 */
import { createHash } from 'node:crypto';
import { AppError, invalid } from '../../system/errors.ts';

/** Time for which a key is remembered (specification 8). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;
/** Maximum length of a key (specification 8). */
const MAX_KEY_CHARACTERS = 256;

/**
 * Returns the Idempotency-Key of a request, or undefined when it has none. `rawHeaders` holds names and values
 * alternately, as Node receives them: the parsed headers would join two keys into one.
 * @throws AppError validation_error for two keys, and for an empty or overlong one
 */
export function readIdempotencyKey(rawHeaders: readonly string[]): string | undefined {
  const keys = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'idempotency-key',
  );
  return readIdempotencyKeys(keys);
}

/**
 * Returns the one key of a request or of a message; undefined when it has none.
 * @throws AppError validation_error for two keys, and for an empty or overlong one
 */
export function readIdempotencyKeys(keys: readonly string[]): string | undefined {
  const [key] = keys;
  if (key === undefined) return undefined;
  if (keys.length > 1) throw invalid('Idempotency-Key', '`Idempotency-Key` must be given once');
  if (key.length === 0 || key.length > MAX_KEY_CHARACTERS) {
    throw invalid('Idempotency-Key', '`Idempotency-Key` must have 1 to 256 characters');
  }
  return key;
}

/** Returns the SHA-256 hash, in hex, of a content that was taken out of the body; undefined for any other string. */
type HashContent = (value: string) => string | undefined;

/**
 * Returns one SHA-256 hash, in hex, for bodies with the same meaning: object keys are sorted, and white space is
 * dropped.
 */
export function hashRequest(
  { method, path, body }: { method: string; path: string; body: unknown },
  hashContent: HashContent,
): string {
  return createHash('sha256')
    .update(`${method} ${path}\n`)
    .update(canonicalJson(body, hashContent))
    .digest('hex');
}

/** Returns the SHA-256 hash, in hex, of a part of a body. Parts with the same meaning have the same hash. */
export function hashJson(value: unknown, hashContent: HashContent): string {
  return createHash('sha256').update(canonicalJson(value, hashContent)).digest('hex');
}

/**
 * Returns JSON with sorted keys and without white space. A content that was taken out of the body is replaced by its
 * hash, in a form that no JSON value has.
 */
export function canonicalJson(value: unknown, hashContent: HashContent = () => undefined): string {
  if (typeof value === 'string') {
    const hash = hashContent(value);
    return hash === undefined ? JSON.stringify(value) : `sha256:${hash}`;
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, hashContent)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const members = entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item, hashContent)}`);
  return `{${members.join(',')}}`;
}

/** Returns the error for a key that was used with a different request. */
export function idempotencyConflict(): AppError {
  return new AppError('idempotency_conflict', 'This Idempotency-Key was used with a different request', {
    param: 'Idempotency-Key',
  });
}
