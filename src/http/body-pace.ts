/**
 * The least pace of a request body (security.md 2.13): one that drips in holds its room for as long as it likes. A time
 * limit alone would not do, for what is long enough for the largest body lets the smallest drip for as long.
 */
import type { Clock, Timer } from '../system/clock.ts';

/** A tenth of the pace at which 25 MiB of attachments come before the request's time is up (server.ts): slow, not stalled. */
export const MIN_BYTES_PER_SECOND = 32 * 1024;
/** A few retransmissions, or a sender that makes its body while it sends. */
export const GRACE_MS = 5_000;

/**
 * Calls `onTooSlow`, once, when fewer bytes have come than the least pace makes of the time since the grace. To be
 * cancelled when all are there.
 */
export function watchPace(clock: Clock, receivedBytes: () => number, onTooSlow: () => void): Timer {
  const beganMs = clock.elapsed();
  const look = (): void => {
    const enoughForMs = GRACE_MS + (receivedBytes() / MIN_BYTES_PER_SECOND) * 1_000;
    const leftMs = beganMs + enoughForMs - clock.elapsed();
    if (leftMs <= 0) onTooSlow();
    else timer = clock.after(leftMs, look);
  };
  let timer = clock.after(GRACE_MS, look);
  return { cancel: () => timer.cancel() };
}
