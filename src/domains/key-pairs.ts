/**
 * Generates key pairs for domains, one at a time. Each keeps a core busy for a tenth of a second, in the pool of
 * threads that also signs mail and writes large bodies. A hundred concurrent ones would block both.
 */
import { generateDkimKey } from '../mail/dkim/key.ts';
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
export const MAX_ASKED = 100;
const RETRY_AFTER_SECONDS = 5;

/** Returns the generator of key pairs. `generateOne` makes one pair. */
export function createKeyPairs(generateOne: () => Promise<KeyPair> = generateDkimKey): KeyPairs {
  let asked = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    async generate() {
      if (asked >= MAX_ASKED)
        throw new AppError('unavailable', 'Too many domains are being added', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      asked++;
      const pair = last.then(generateOne);
      last = pair.catch(() => {});
      try {
        return await pair;
      } finally {
        asked--;
      }
    },
  };
}
