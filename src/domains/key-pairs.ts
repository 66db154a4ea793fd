/**
 * Fresh key pairs for domains, one at a time: each keeps a core busy for a tenth of a second, in the pool of threads
 * that also signs mail and writes its large bodies, where a hundred at once would hold up both.
 */
import { generateDkimKey } from '../mail/dkim/key.ts';
import { AppError } from '../system/errors.ts';

export type KeyPair = Awaited<ReturnType<typeof generateDkimKey>>;

export type KeyPairs = {
  /** @throws AppError unavailable when too many are asked for */
  generate(): Promise<KeyPair>;
};

/** Asked for and not made yet: some ten seconds of work, about as long as a caller waits. */
export const MAX_ASKED = 100;
const RETRY_AFTER_SECONDS = 5;

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
