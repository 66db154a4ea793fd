/**
 * A wall clock that was set back takes the due times along that were stored before: what was due is due again, and what
 * waits for a retry waits no longer than it was to. Each feature moves the rows of its own tables.
 */

export type SetBack = {
  /** Wall time after it was set back. */
  now: number;
  setBackMs: number;
};

export function movedBack(dueAt: number, { now, setBackMs }: SetBack): number {
  return Math.max(now, dueAt - setBackMs);
}

/** Rows moved in one write: the other writes wait for no more than these. */
export const MOVED_ROWS = 500;

/** Runs a write on slice after slice, each from where the one before has ended, until there is no next. */
export async function inSlices<Cursor>(
  first: Cursor,
  move: (after: Cursor) => Promise<Cursor | undefined>,
): Promise<void> {
  for (let after: Cursor | undefined = first; after !== undefined; after = await move(after));
}
