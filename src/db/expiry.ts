/**
 * Retention deletes old rows in slices, each a write of its own. A slice visits a bounded number of rows in the order
 * of their ids, which is the order of time, and returns the id after which the next slice goes on.
 */

export type ExpiryRange = {
  /** Id after which the slice begins; '' for the first. */
  after: string;
  /** First id that is young enough to be kept. */
  before: string;
};

export type ExpirySlice = {
  /** Id after which the next slice begins; undefined when the range has been visited to its end. */
  next: string | undefined;
  /** Number of rows deleted, or of emails whose content was deleted. */
  deleted: number;
};

/**
 * Maximum number of events or attempts that a slice visits. Our own limit: to delete so many takes about 5 ms, flush
 * included, and all other writes wait meanwhile.
 */
export const EXPIRY_ROWS = 250;
