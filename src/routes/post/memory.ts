/**
 * Limits the bytes of messages and bodies that posts hold at the same time. A post whose bytes do not fit waits; tenants
 * are served round-robin, and one of them has at most half of the memory.
 */
import type { Clock, Timer } from '../../system/clock.ts';
import { createByteBudget, type Reservation } from '../../system/guards/byte-budget.ts';
import { RoundRobin } from '../../system/round-robin.ts';
import { MAX_BODY_BYTES } from './body.ts';

/** Bytes of large messages: three of the largest size at once, and a dozen bodies that are being posted. */
const LARGE_BYTES = 192 * 1024 * 1024;
/** Bytes that only small messages may use, so that a few large ones never shut out many small ones. */
const SMALL_BYTES = 32 * 1024 * 1024;
const TENANT_SHARE = 1 / 2;
/** Maximum time that a post waits for memory. Posts end within 15 seconds, so a place becomes free soon. */
const MAX_WAIT_MS = 30_000;
/** Bytes of a body besides the message: the fields that are added. */
const ADDED_BYTES = 16 * 1024;

/** The memory of one post. */
export type Hold = Disposable & {
  /** Keeps only this many bytes. */
  shrinkTo(bytes: number): void;
};

type Waiting = { bytes: number; reservation: Reservation; start(isTaken: boolean): void; timer: Timer };

export class PostMemory {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #budget = createByteBudget({
    largeBytes: LARGE_BYTES,
    smallBytes: SMALL_BYTES,
    share: TENANT_SHARE,
  });
  readonly #waiting = new RoundRobin<Waiting>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Number of bytes that posts hold. */
  get usedBytes(): number {
    return this.#budget.usedBytes;
  }

  /** Reserves the memory for a message of this size and its body. Returns undefined when it is not free in time. */
  async reserve(tenant: string, sizeBytes: number): Promise<Hold | undefined> {
    const reservation = this.#budget.open(tenant);
    const bytes = neededBytes(sizeBytes);
    const isFree = !this.#waiting.has(tenant) && reservation.take(bytes);
    if (!isFree && !(await this.#wait(tenant, { bytes, reservation }))) return undefined;
    let heldBytes = bytes;
    const shrinkTo = (kept: number): void => {
      reservation.release(heldBytes - kept);
      heldBytes = kept;
      this.#startWaiting();
    };
    return { shrinkTo, [Symbol.dispose]: () => shrinkTo(0) };
  }

  #wait(tenant: string, wanted: Pick<Waiting, 'bytes' | 'reservation'>): Promise<boolean> {
    return new Promise((start) => {
      const timer = this.#clock.after(MAX_WAIT_MS, () => {
        this.#waiting.remove(tenant, waiting);
        start(false);
        // The next one of this tenant may be smaller.
        this.#startWaiting();
      });
      const waiting: Waiting = { ...wanted, start, timer };
      this.#waiting.add(tenant, waiting);
    });
  }

  #startWaiting(): void {
    const fits = (tenant: string): boolean => {
      const [first] = this.#waiting.itemsOf(tenant);
      return first?.reservation.take(first.bytes) ?? false;
    };
    for (let next = this.#waiting.take(fits); next; next = this.#waiting.take(fits)) {
      next.timer.cancel();
      next.start(true);
    }
  }
}

/** Returns the bytes of a message, of its parts, and of its body while it is built. */
function neededBytes(sizeBytes: number): number {
  return sizeBytes + 2 * Math.min(1.4 * sizeBytes + ADDED_BYTES, MAX_BODY_BYTES);
}
