/**
 * How many bytes of one kind the process holds at the same time: request bodies and files fetched for them, or responses. Each takes its room
 * before it is read and keeps it until it is done with, so that many large ones at once are refused in good order instead
 * of ending the process. Nobody has more than a share, so that one who takes all he can leaves the others theirs.
 */

export type ByteBudget = {
  /** Bytes taken and not yet given back. */
  readonly usedBytes: number;
  /** For one body or file; nothing is taken yet. `holder`: whose share it counts to. */
  open(holder: string): Reservation;
};

export type Reservation = {
  /** Whether there was room for so many bytes more. */
  take(bytes: number): boolean;
  /** Counts bytes that are held already, whether there is room or not. */
  add(bytes: number): void;
  /** Gives back so many of them; without a number all. */
  release(bytes?: number): void;
};

export type ByteLimits = { largeBytes: number; smallBytes: number; share: number };

/** Eight emails with all the attachments one may have (specification 8), in base64 and with their text: four of one holder. */
const LARGE_BODIES_BYTES = 320 * 1024 * 1024;
/** Kept free of large bodies, so that a few of them never shut out the many small ones. */
const SMALL_BODIES_BYTES = 16 * 1024 * 1024;
const SMALL_BODY_BYTES = 256 * 1024;
/** Of each of the two, the most that one holder has. */
const HOLDER_SHARE = 1 / 2;

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
