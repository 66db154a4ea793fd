/**
 * Moves stored due times when the wall clock was set back: mail that was due stays due, and mail that waits for a retry
 * waits no longer than planned. Each feature moves the rows of its own tables.
 */

export type SetBack = {
  /** Wall time after the clock was set back. */
  now: number;
  setBackMs: number;
};

/** Returns the due time, in Unix milliseconds, after the clock was set back. It is never in the past. */
function movedBack(dueAt: number, { now, setBackMs }: SetBack): number {
  return Math.max(now, dueAt - setBackMs);
}

/** Maximum number of rows moved in one write, so that other writes do not wait long. */
export const MOVED_ROWS = 500;

/**
 * Moves the rows of a slice, which has up to `MOVED_ROWS`. Rows that are due already stay. Returns the last row of a full slice, after
 * which the next one begins; undefined when there is none.
 */
export async function moveSlice<Row extends { dueAt: number | null }>(
  rows: readonly Row[],
  setBack: SetBack,
  move: (row: Row, dueAt: number) => Promise<void>,
): Promise<(Row & { dueAt: number }) | undefined> {
  for (const row of rows)
    if (row.dueAt !== null && row.dueAt > setBack.now) await move(row, movedBack(row.dueAt, setBack));
  const last = rows[MOVED_ROWS - 1];
  return last && last.dueAt !== null ? { ...last, dueAt: last.dueAt } : undefined;
}

/**
 * Runs a write on one slice after another, each from the cursor that the slice before returned, until a slice returns
 * none.
 */
export async function inSlices<Cursor>(
  first: Cursor,
  move: (after: Cursor) => Promise<Cursor | undefined>,
): Promise<void> {
  for (let after: Cursor | undefined = first; after !== undefined; after = await move(after));
}
