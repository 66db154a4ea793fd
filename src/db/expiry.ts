/**
 * Retention deletes old rows in slices, each a write of its own. A slice visits a bounded number of rows in the order
 * of their ids, which is the order of time, and returns the id after which the next slice begins.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from './operation.ts';
import type { SliceSize } from './slice-size.ts';

export type ExpiryRange = {
  /** Id after which the slice begins; '' for the first. */
  after: string;
  /** First id that is young enough to be kept. */
  before: string;
  /** Maximum number of rows that the slice visits. */
  rows: number;
};

export type ExpirySlice = {
  /** Id after which the next slice begins; undefined when the range has been visited to its end. */
  next: string | undefined;
  /** Number of rows deleted, or of emails whose content was deleted. */
  deleted: number;
};

/** A step of retention: what one kind of rows needs to expire. */
export type ExpiryStep = {
  /** Names what the step deletes, in the log and in the metrics. */
  kind: string;
  size: SliceSize;
  /**
   * Deletes the next slice of the rows that had expired at `now`: at most `rows` rows, beginning after the id `after`.
   */
  expire(now: number, slice: Pick<ExpiryRange, 'after' | 'rows'>): Promise<ExpirySlice>;
};

type Slice = {
  /** Condition of the rows that the slice visits. */
  isInSlice: RawBuilder<boolean>;
  next: ExpirySlice['next'];
};

/** Finds the next rows of the range. `table` has ids in the order of time. */
export async function findSlice(
  tx: Tx,
  table: string,
  { after, before, rows: count }: ExpiryRange,
): Promise<Slice> {
  const isInRange = sql<boolean>`id > ${after} AND id < ${before}`;
  const { rows } = await sql<{ id: string }>`SELECT id FROM ${sql.table(table)}
    WHERE ${isInRange} ORDER BY id LIMIT 1 OFFSET ${count - 1}`.execute(tx);
  const next = rows[0]?.id;
  return next === undefined
    ? { isInSlice: isInRange, next }
    : { isInSlice: sql<boolean>`id > ${after} AND id <= ${next}`, next };
}
