/**
 * Adapts the number of rows in a slice to the time that slices take, so that a slow disk or a busy writer gets small
 * slices.
 */

/** Number of small rows in a slice, which takes between one and a few milliseconds on an SSD, flush included. */
const ROWS = { first: 250, min: 25, max: 500 };
/** Maximum time that a slice should take, its wait for the writer included, since other writes wait meanwhile. */
const MAX_SLICE_MS = 20;
/** A slice that takes less than this share of the maximum lets the next one be larger. */
const QUICK_SHARE = 0.25;
const GROWTH = 1.25;

type Bounds = { first: number; min: number; max: number };

export class SliceSize {
  readonly #bounds: Bounds;
  #rows: number;

  constructor(bounds: Bounds = ROWS) {
    this.#bounds = bounds;
    this.#rows = bounds.first;
  }

  /** Maximum number of rows, or of pages, in the next slice. */
  get rows(): number {
    return this.#rows;
  }

  /** Adapts the size to the time in milliseconds that a slice has taken. */
  follow(tookMs: number): void {
    const { min, max } = this.#bounds;
    if (tookMs > MAX_SLICE_MS) this.#rows = Math.max(min, Math.floor(this.#rows / 2));
    else if (tookMs < MAX_SLICE_MS * QUICK_SHARE) this.#rows = Math.min(max, Math.ceil(this.#rows * GROWTH));
  }
}
