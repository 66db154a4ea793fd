/**
 * How many bytes of request bodies the process holds at the same time. A body takes its room before it is read and keeps
 * it until it has been answered, so that many large ones at once are refused in good order instead of ending the process.
 */

export type ByteBudget = {
  /** Bytes taken and not yet given back. */
  readonly usedBytes: number;
  /** Whether there was room. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
};

/** Four emails with all the attachments one may have (specification 8), in base64 and with their text. */
const LARGE_BODIES_BYTES = 160 * 1024 * 1024;
/** Kept free of large bodies, so that a few of them never shut out the many small ones. */
const SMALL_BODIES_BYTES = 16 * 1024 * 1024;
const SMALL_BODY_BYTES = 256 * 1024;

export function createByteBudget(
  limits = { largeBytes: LARGE_BODIES_BYTES, reserveBytes: SMALL_BODIES_BYTES },
): ByteBudget {
  let usedBytes = 0;
  return {
    get usedBytes() {
      return usedBytes;
    },
    take(bytes) {
      const limit = bytes > SMALL_BODY_BYTES ? limits.largeBytes : limits.largeBytes + limits.reserveBytes;
      if (usedBytes + bytes > limit) return false;
      usedBytes += bytes;
      return true;
    },
    giveBack(bytes) {
      usedBytes -= bytes;
    },
  };
}
