/** The pages of one database file that have changed and wait to be collected, each in its newest version. */
import { createByteBudget, type Reservation } from '../system/guards/byte-budget.ts';
import type { CollectedPages } from './changed-pages.ts';

/**
 * Maximum size of the pages that wait in a thread, in bytes: four WALs of the main database, so that only changes that nobody collects are
 * given up. The memory that holds them is at most twice as large.
 */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Number of pages that the memory of changes has at first. It doubles each time it is full. */
const FIRST_PAGES = 16;

export type PageBudget = { open(): Reservation };

/** Limits the pages that wait in a thread for all its databases together. */
export function createPageBudget(maxBytes = MAX_WAITING_BYTES): PageBudget {
  const budget = createByteBudget({ largeBytes: maxBytes, smallBytes: 0, share: 1 });
  return { open: () => budget.open('pages') };
}

export class WaitingPages {
  readonly #reservation: Reservation;
  /** Places of the pages in the memory, by the number of the page, in the order of the places. */
  readonly #places = new Map<number, number>();
  #memory: Uint8Array<ArrayBuffer> = new Uint8Array();
  #pageBytes = 0;
  #databasePages = 0;
  #isLost = false;

  constructor(budget: PageBudget) {
    this.#reservation = budget.open();
  }

  /** True when some changes are not known, so that further ones are of no use. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Puts a page, whose bytes are copied, in the place of its earlier version. */
  put(number: number, bytes: Uint8Array): void {
    if (this.#isLost) return;
    if (this.#places.size === 0) this.#pageBytes = bytes.length;
    const place = this.#places.get(number) ?? this.#placeOf(number, bytes.length);
    if (place !== undefined) this.#memory.set(bytes, place * this.#pageBytes);
  }

  /** Notes the number of pages of the database after the last change. */
  setSize(databasePages: number): void {
    this.#databasePages = databasePages;
  }

  /** Returns what has changed since the last call. The answer is `lost` for ever after `lose`. */
  take(): CollectedPages {
    if (this.#isLost) return 'lost';
    if (this.#places.size === 0) return undefined;
    const [pageBytes, databasePages] = [this.#pageBytes, this.#databasePages];
    const numbers = this.#dropBehind(databasePages);
    const memory = this.#memory.buffer.transfer(numbers.length * pageBytes);
    this.#clear();
    return { pageBytes, databasePages, numbers, contents: new Uint8Array(memory) };
  }

  /** Drops what waits, because some changes are not known. */
  lose(): void {
    this.#isLost = true;
    this.#clear();
  }

  #placeOf(number: number, pageBytes: number): number | undefined {
    if (pageBytes !== this.#pageBytes || !this.#reservation.take(pageBytes)) {
      this.lose();
      return undefined;
    }
    const place = this.#places.size;
    this.#places.set(number, place);
    if ((place + 1) * pageBytes > this.#memory.length) this.#grow();
    return place;
  }

  #grow(): void {
    const bytes = Math.max(FIRST_PAGES * this.#pageBytes, 2 * this.#memory.length);
    this.#memory = new Uint8Array(this.#memory.buffer.transfer(bytes));
  }

  /** Moves the pages up to that number to the beginning of the memory, and returns their numbers. Pages behind them are gone from the database. */
  #dropBehind(databasePages: number): Uint32Array<ArrayBuffer> {
    const numbers = new Uint32Array(this.#places.size);
    let kept = 0;
    for (const [number, place] of this.#places) {
      if (number > databasePages) continue;
      if (kept < place) {
        const start = place * this.#pageBytes;
        this.#memory.copyWithin(kept * this.#pageBytes, start, start + this.#pageBytes);
      }
      numbers[kept++] = number;
    }
    return numbers.slice(0, kept);
  }

  #clear(): void {
    this.#places.clear();
    this.#memory = new Uint8Array();
    this.#reservation.release();
  }
}
