/**
 * Requests that carry an Idempotency-Key, while they run: another with the same key waits for the first, which then has
 * either left a record to answer from or nothing at all (api.md 1.10). What makes it safe is the transaction that
 * accepts (store.ts); this only saves doing the work twice.
 */
import { type Clock, TimeoutError, withTimeout } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';

/** api.md 1.10. */
export const WAIT_MS = 10_000;

export type InFlight = {
  /** @throws AppError idempotency_in_progress when the work of others under this key takes too long */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
};

export function createInFlight(clock: Clock): InFlight {
  const running = new Map<string, Promise<void>>();
  return {
    async run(key, work) {
      const deadline = clock.elapsed() + WAIT_MS;
      for (let other = running.get(key); other; other = running.get(key)) {
        await withTimeout(clock, deadline - clock.elapsed(), 'another request', other).catch(asRefusal);
      }
      const ended = Promise.withResolvers<void>();
      running.set(key, ended.promise);
      try {
        return await work();
      } finally {
        running.delete(key);
        ended.resolve();
      }
    },
  };
}

function asRefusal(error: unknown): never {
  if (!(error instanceof TimeoutError)) throw error;
  throw new AppError('idempotency_in_progress', 'A request with this Idempotency-Key is still running', {
    param: 'Idempotency-Key',
    retryAfterSeconds: 1,
    cause: error,
  });
}
