/** Repeats requests when the daemon asks for a retry: shedding on a busy machine is not a fault. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonResponse } from '../support/daemon.ts';

const PAUSE_MS = 200;
const MAX_TRIES = 150;

/** Returns true for a refusal that asks the caller to retry: 429 or 503 with Retry-After. */
export function asksForRetry({ status, headers }: DaemonResponse): boolean {
  return (status === 429 || status === 503) && headers['retry-after'] !== undefined;
}

/** Resolves with the first answer that does not ask for a retry, or with the last one after half a minute. */
export async function withRetries(request: () => Promise<DaemonResponse>): Promise<DaemonResponse> {
  for (let attempt = 1; ; attempt++) {
    const answer = await request();
    if (!asksForRetry(answer) || attempt === MAX_TRIES) return answer;
    await sleep(PAUSE_MS);
  }
}
