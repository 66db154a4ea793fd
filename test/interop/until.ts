/** Waiting for what another program does, which no clock of ours can hurry. */

const POLL_MS = 50;
const MAX_WAIT_MS = 90_000;

/** Resolves with the first value that is neither undefined nor false; rejects with `what` when none comes in time. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  maxWaitMs = MAX_WAIT_MS,
): Promise<T> {
  const deadlineMs = performance.now() + maxWaitMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadlineMs) throw new Error(`waited ${maxWaitMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
