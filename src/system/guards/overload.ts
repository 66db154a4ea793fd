/**
 * Load shedding for every protocol: while the daemon is behind, or its disk is nearly full, new work is refused at
 * once, so that accepted work is answered in time. Reading continues.
 */
import { AppError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';

export type OverloadReason =
  | 'writer_lag'
  | 'pending_writes'
  | 'pending_bytes'
  | 'event_loop'
  | 'disk_reserve';

/** `addition` adds data; `change` changes or removes existing data, and is accepted while the disk is nearly full. */
type WorkKind = 'addition' | 'change';

export type Overload = {
  /**
   * Returns the reason to refuse work; undefined when there is none. It runs for every write, so it must cost nothing.
   */
  reasonToRefuse(kind: WorkKind): OverloadReason | undefined;
};

export type Load = {
  /** Returns the age of the oldest write that is not durable yet. */
  writerLagMs: () => number;
  pendingWrites: () => number;
  pendingBytes: () => number;
  /** Number of pending writes, and of their bytes, beyond which the writer accepts no more. */
  maxPendingWrites: number;
  maxPendingBytes: number;
  /** Returns the mean delay of the event loop in the last second. */
  loopDelayMs: () => number;
  /** Returns true when free disk space is below the reserve. */
  isDiskLow: () => boolean;
};

/** Maximum delay of a write. A caller that waits longer for its response often gives up and retries. */
export const MAX_WRITER_LAG_MS = 2_000;
/**
 * Share of what the writer accepts that may be pending while new work is accepted. The rest is for the results of
 * deliveries.
 */
export const MAX_PENDING_SHARE = 0.5;
/**
 * Maximum mean delay of the event loop over a second, so that one long task sheds nothing. Under full but healthy
 * load a turn takes 3 to 30 ms.
 */
export const MAX_LOOP_DELAY_MS = 200;
const RETRY_AFTER_SECONDS = 2;
/** Retry-After for a full disk, which takes longer than load to pass. */
const LOW_DISK_RETRY_AFTER_SECONDS = 30;

/** Returns the check of a daemon with this load. */
export function createOverload(load: Load): Overload {
  const maxWrites = load.maxPendingWrites * MAX_PENDING_SHARE;
  const maxBytes = load.maxPendingBytes * MAX_PENDING_SHARE;
  return {
    reasonToRefuse(kind) {
      if (load.writerLagMs() > MAX_WRITER_LAG_MS) return 'writer_lag';
      if (load.pendingWrites() > maxWrites) return 'pending_writes';
      if (load.pendingBytes() > maxBytes) return 'pending_bytes';
      if (load.loopDelayMs() > MAX_LOOP_DELAY_MS) return 'event_loop';
      return kind === 'addition' && load.isDiskLow() ? 'disk_reserve' : undefined;
    },
  };
}

/** Returns the refusal for a reason, in words for the caller. */
export function overloadRefusal(reason: OverloadReason): AppError {
  if (reason !== 'disk_reserve') {
    return new AppError('unavailable', 'The server is overloaded; try again shortly', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  return new AppError(
    'unavailable',
    'The disk of the server is nearly full; nothing new is accepted until its operator frees some space',
    { shortage: 'disk', retryAfterSeconds: LOW_DISK_RETRY_AFTER_SECONDS },
  );
}

/**
 * Checks that the daemon can take more mail, and counts a refusal.
 * @throws AppError unavailable
 */
export function requireCapacity({
  guards,
  metrics,
}: {
  guards: { overload: Overload };
  metrics: Pick<Metrics, 'shedRequests'>;
}): void {
  const reason = guards.overload.reasonToRefuse('addition');
  if (reason === undefined) return;
  metrics.shedRequests.inc({ reason });
  throw overloadRefusal(reason);
}

/**
 * Checks that the disk has space for more mail.
 * @throws AppError unavailable
 */
export function requireReserve({ isBelowReserve }: { isBelowReserve: boolean }): void {
  if (isBelowReserve) throw overloadRefusal('disk_reserve');
}
