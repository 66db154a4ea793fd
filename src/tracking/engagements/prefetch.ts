/** Recognises requests that a program makes ahead of its user. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * The fields by which browsers announce them: `Sec-Purpose` (HTML standard, Speculation Rules), `Purpose` (Chromium and
 * Safari), `X-Purpose` (Safari's previews) and `X-Moz` (Firefox).
 */
const FIELDS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;
const AHEAD = /\b(?:prefetch|prerender|preview)\b/i;

/** Returns true for the header fields of a prefetch, a prerendered page or a preview. */
export function isPrefetchRequest(headers: IncomingHttpHeaders): boolean {
  return FIELDS.some((name) => {
    const value = headers[name];
    return AHEAD.test(Array.isArray(value) ? value.join() : (value ?? ''));
  });
}
