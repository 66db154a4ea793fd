/**
 * Enforces a minimum rate for request bodies, because a body that arrives slowly keeps its reservation for long. A time
 * limit alone does not suffice: one that is long enough for the largest body lets the smallest take just as long.
 */
import type { Clock, Timer } from '../../system/clock.ts';

/**
 * Minimum rate: a tenth of the rate at which 25 MiB of attachments arrive just within the time limit of a request
 * (server.ts). Slow connections exceed it, and stalled ones do not.
 */
export const MIN_BYTES_PER_SECOND = 32 * 1024;
/** Time without a minimum rate, for a few retransmissions, or a sender that generates its body while it sends. */
export const GRACE_MS = 5_000;

/**
 * Calls `onTooSlow` once when fewer bytes have arrived than the minimum rate requires. The caller cancels the timer
 * when the body is complete.
 */
export function watchPace(clock: Clock, receivedBytes: () => number, onTooSlow: () => void): Timer {
  const beganMs = clock.elapsed();
  const check = (): void => {
    const enoughForMs = GRACE_MS + (receivedBytes() / MIN_BYTES_PER_SECOND) * 1_000;
    const leftMs = beganMs + enoughForMs - clock.elapsed();
    if (leftMs <= 0) onTooSlow();
    else timer = clock.after(leftMs, check);
  };
  let timer = clock.after(GRACE_MS, check);
  return { cancel: () => timer.cancel() };
}
