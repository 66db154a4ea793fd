/**
 * Limits the number of bytes of one kind that the process holds at the same time: request bodies and files fetched
 * for them, or responses. Each one reserves its bytes before it is read and keeps them until it is finished with, so
 * that many large ones at once are refused instead of exhausting memory. Every holder has a limited share, so that
 * one holder cannot starve the others.
 */

export type ByteBudget = {
  /** Number of bytes that are reserved and not yet released. */
  readonly usedBytes: number;
  /** Opens an empty reservation for one body or file. `holder` names the share that it counts to. */
  open(holder: string): Reservation;
};

export type Reservation = {
  /** Reserves more bytes. Returns false, and reserves none, when the budget or the holder's share is used up. */
  take(bytes: number): boolean;
  /** Counts bytes that are held already, even beyond the limits. */
  add(bytes: number): void;
  /** Releases this number of bytes, by default all. */
  release(bytes?: number): void;
};

type ByteLimits = { largeBytes: number; smallBytes: number; share: number };

/**
 * Bytes of large bodies: eight emails with the maximum of attachments (specification 8), in base64 and with their
 * text, four of them for one holder.
 */
const LARGE_BODIES_BYTES = 320 * 1024 * 1024;
/** Bytes that only small bodies may use, so that a few large ones never shut out many small ones. */
const SMALL_BODIES_BYTES = 16 * 1024 * 1024;
const SMALL_BODY_BYTES = 256 * 1024;
/** Maximum share of one holder in each of the two limits. */
const HOLDER_SHARE = 1 / 2;

/** Returns an empty budget. */
export function createByteBudget({
  largeBytes = LARGE_BODIES_BYTES,
  smallBytes = SMALL_BODIES_BYTES,
  share = HOLDER_SHARE,
}: Partial<ByteLimits> = {}): ByteBudget {
  let usedBytes = 0;
  const usedBy = new Map<string, number>();

  function add(holder: string, bytes: number): void {
    usedBytes += bytes;
    const used = (usedBy.get(holder) ?? 0) + bytes;
    if (used === 0) usedBy.delete(holder);
    else usedBy.set(holder, used);
  }

  return {
    get usedBytes() {
      return usedBytes;
    },
    open(holder) {
      let takenBytes = 0;
      const hold = (bytes: number): void => {
        takenBytes += bytes;
        add(holder, bytes);
      };
      return {
        take(bytes) {
          const isLarge = takenBytes + bytes > SMALL_BODY_BYTES;
          const limit = isLarge ? largeBytes : largeBytes + smallBytes;
          if (usedBytes + bytes > limit) return false;
          if ((usedBy.get(holder) ?? 0) + bytes > limit * share) return false;
          hold(bytes);
          return true;
        },
        add: hold,
        release(bytes = takenBytes) {
          add(holder, -bytes);
          takenBytes -= bytes;
        },
      };
    },
  };
}
