/**
 * Load shedding: when the daemon is behind, writes are refused at once, so that accepted ones are answered in time.
 * Reads continue.
 */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../system/errors.ts';
import type { Metrics } from '../system/metrics.ts';

/**
 * Returns the reason to refuse a write; undefined when there is none. It runs for every write, so it must cost
 * nothing.
 */
export type OverloadCheck = () => OverloadReason | undefined;
declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True for a POST that is accepted although free disk space is below the reserve, because it frees, stops or
     * protects something.
     */
    worksOnLowDisk?: boolean;
  }
}

export type OverloadReason = 'writer_lag' | 'pending_writes' | 'pending_bytes' | 'event_loop';

/** Maximum delay of a write. A caller that waits longer for its response often gives up and retries. */
export const MAX_WRITER_LAG_MS = 2_000;
/**
 * Maximum number of pending writes: half of what the writer accepts (engine.md 4). The other half is for the results
 * of deliveries.
 */
export const MAX_PENDING_WRITES = 1_000;
export const MAX_PENDING_BYTES = 32 * 1024 * 1024;
/**
 * Maximum mean delay of the event loop over a second, so that one long task sheds nothing. Under full but healthy
 * load a turn takes 3 to 30 ms.
 */
export const MAX_LOOP_DELAY_MS = 200;
const RETRY_AFTER_SECONDS = 2;

/** Retry-After for a full disk, which takes longer than load to pass. */
const LOW_DISK_RETRY_AFTER_SECONDS = 30;

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Methods that add data. A PATCH changes existing data, and a DELETE removes it. */
const ADDING = new Set(['POST', 'PUT']);

/** Returns the check for overload. */
export function createOverloadCheck(load: {
  /** Returns the age of the oldest write that is not durable yet. */
  writerLagMs: () => number;
  pendingWrites: () => number;
  pendingBytes: () => number;
  /** Returns the mean delay of the last second. */
  loopDelayMs: () => number;
}): OverloadCheck {
  return () => {
    if (load.writerLagMs() > MAX_WRITER_LAG_MS) return 'writer_lag';
    if (load.pendingWrites() > MAX_PENDING_WRITES) return 'pending_writes';
    if (load.pendingBytes() > MAX_PENDING_BYTES) return 'pending_bytes';
    if (load.loopDelayMs() > MAX_LOOP_DELAY_MS) return 'event_loop';
    return undefined;
  };
}

export type Shedding = {
  isOverloaded: OverloadCheck;
  /** Returns true when free disk space is below the reserve. It is called for every write, so it must cost nothing. */
  isDiskLow: () => boolean;
  metrics?: Pick<Metrics, 'shedRequests'>;
};

/** Refuses writes on every route that is registered on `scope` afterwards, while a reason exists. */
export function shedWrites(scope: FastifyInstance, { isOverloaded, isDiskLow, metrics }: Shedding): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (!WRITES.has(request.method)) return done();
    const addsBulk = ADDING.has(request.method) && request.routeOptions.config.worksOnLowDisk !== true;
    const reason = isOverloaded() ?? (addsBulk && isDiskLow() ? 'disk_reserve' : undefined);
    if (reason === undefined) return done();
    metrics?.shedRequests.inc({ reason });
    done(reason === 'disk_reserve' ? lowDisk() : overloaded());
  });
}

function overloaded(): AppError {
  return new AppError('unavailable', 'The server is overloaded; try again shortly', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function lowDisk(): AppError {
  return new AppError(
    'unavailable',
    'The disk of the server is nearly full: nothing new is accepted until its operator has freed some space',
    { retryAfterSeconds: LOW_DISK_RETRY_AFTER_SECONDS },
  );
}
