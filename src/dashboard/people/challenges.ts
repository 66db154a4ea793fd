/**
 * Challenges of WebAuthn: random texts that an authenticator signs, so that no signature is accepted twice. A challenge is authenticated by a
 * key of this process instead of being stored, since everybody who opens the page to log in gets one: asking for many pushes out none.
 * Stored are those whose signature was accepted, until they would have expired.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, MINUTE_MS } from '../../system/clock.ts';

/** Time for which a challenge can be signed: long enough for somebody who looks for a security key. */
export const CHALLENGE_MS = 5 * MINUTE_MS;
/** Parts of a challenge, in bytes: the time at which it expires, and a random number. Behind them stands the code that authenticates both. */
const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const CODE_BYTES = 32;
const KEY_BYTES = 32;

type Challenges = {
  /** Returns a new challenge in base64url, which only `owner` can answer, such as a session or everybody who logs in. */
  make(owner: string): string;
  /** Returns true for a challenge of this owner that has not expired and was not used. */
  isOpen(challenge: string, owner: string): boolean;
  /** Takes a challenge out of use. Returns false when it was used before. */
  use(challenge: string): boolean;
};

/** Returns the challenges of a process, of which none was made yet. Those of an earlier process are not accepted. */
export function createChallenges(clock: Pick<Clock, 'now'>): Challenges {
  const key = randomBytes(KEY_BYTES);
  /** Challenges that were used, with the time at which they expire, in the order of their use. */
  const used = new Map<string, number>();

  const codeOf = (content: Buffer, owner: string) =>
    createHmac('sha256', key).update(content).update(owner).digest();

  return {
    make(owner) {
      const expiresAt = Buffer.alloc(TIME_BYTES);
      expiresAt.writeUIntBE(clock.now() + CHALLENGE_MS, 0, TIME_BYTES);
      const content = Buffer.concat([expiresAt, randomBytes(RANDOM_BYTES)]);
      return Buffer.concat([content, codeOf(content, owner)]).toString('base64url');
    },
    isOpen(challenge, owner) {
      const bytes = Buffer.from(challenge, 'base64url');
      const length = TIME_BYTES + RANDOM_BYTES;
      // A text that decodes to the same bytes would be another one to `use`.
      if (bytes.length !== length + CODE_BYTES || bytes.toString('base64url') !== challenge) return false;
      const isOurs = timingSafeEqual(codeOf(bytes.subarray(0, length), owner), bytes.subarray(length));
      return isOurs && bytes.readUIntBE(0, TIME_BYTES) > clock.now() && !used.has(challenge);
    },
    use(challenge) {
      const now = clock.now();
      for (const [old, forgottenAt] of used) {
        if (forgottenAt > now) break;
        used.delete(old);
      }
      if (used.has(challenge)) return false;
      used.set(challenge, now + CHALLENGE_MS);
      return true;
    },
  };
}
