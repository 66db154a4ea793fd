/** Reads the header `Retry-After` of an answer. */

/** Returns the requested delay, which is in seconds or a date (RFC 9110 section 10.2.3). Any other value is ignored. */
export function readRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  const [text] = [header].flat();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(dateMs - nowMs, 0);
}
