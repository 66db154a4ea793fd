/** Idempotency (specification 8, decisions.md 3): the same key and request answer the same; another request is refused. */
import { createHash } from 'node:crypto';
import { AppError, invalid } from '../system/errors.ts';

export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;
const MOST_KEY_CHARACTERS = 256;

/** @throws AppError validation_error for an empty or overlong key */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.length === 0 || header.length > MOST_KEY_CHARACTERS) {
    throw invalid('Idempotency-Key', '`Idempotency-Key` must have 1 to 256 characters');
  }
  return header;
}

/** One hash for bodies that mean the same: keys in order, white space gone. */
export function hashRequest(method: string, path: string, body: unknown): string {
  return createHash('sha256').update(`${method} ${path}\n`).update(canonicalJson(body)).digest('hex');
}

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}

export function idempotencyConflict(): AppError {
  return new AppError('idempotency_conflict', 'This Idempotency-Key was used with a different request', {
    param: 'Idempotency-Key',
  });
}
