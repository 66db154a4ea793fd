/** How long before its end a daemon may have done something without having recorded it. */

/** The record of a delivery is one commit away from the reply. A daemon that lived on for this long had made it. */
const MIN_DOUBT_MS = 2_000;
let slowestStartMs = 0;

/** Notes how long a daemon took to start: on a busy machine a commit is late too, but not by as much as a start. */
export function noteStart(tookMs: number): void {
  slowestStartMs = Math.max(slowestStartMs, tookMs);
}

/** Returns true when a daemon that ended at `endMs` may not have recorded what it did at `atMs`. */
export function isInDoubt(atMs: number, endMs: number): boolean {
  return endMs - atMs < Math.max(MIN_DOUBT_MS, slowestStartMs);
}

/** Says whether the daemon ended between the two times, and so soon after the earlier one that it had not recorded it. */
export function endedInDoubt(earlierMs: number, laterMs: number, endOfLifeMs: readonly number[]): boolean {
  return endOfLifeMs.some((end) => end >= earlierMs && end <= laterMs && isInDoubt(earlierMs, end));
}
