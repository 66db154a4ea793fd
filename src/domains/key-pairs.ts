/**
 * Generates key pairs for domains, one at a time. Each keeps a core busy for a tenth of a second, in the pool of
 * threads that also signs mail and writes large bodies. A hundred concurrent ones would block both.
 */
import { generateDkimKey } from '../mail/dkim/key.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError } from '../system/errors.ts';

export type KeyPair = Awaited<ReturnType<typeof generateDkimKey>>;

export type KeyPairs = {
  /**
   * Returns a new key pair.
   * @throws AppError unavailable when too many are waiting
   */
  generate(): Promise<KeyPair>;
};

/** Maximum number of requested key pairs: about ten seconds of work, which is as long as a caller waits. */
export const MAX_REQUESTED = 100;
const RETRY_AFTER_SECONDS = 5;

/** Returns the generator of key pairs. `generateOne` makes one pair. */
export function createKeyPairs(generateOne: () => Promise<KeyPair> = generateDkimKey): KeyPairs {
  const limiter = new ConcurrencyLimiter({ maxRunning: 1, maxWaiting: MAX_REQUESTED - 1 });
  return {
    async generate() {
      const pair = limiter.tryRun(generateOne);
      if (pair !== undefined) return pair;
      throw new AppError('unavailable', 'Too many domains are being added', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    },
  };
}
