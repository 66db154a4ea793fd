/**
 * A period in which a database was in use in its data directory. A file in `blobs/` from such a time that the database
 * does not name belongs to a request that did not commit. A file from any other time may belong to mail of another
 * database.
 */
export type TimeSpan = { from: number; to: number };

/**
 * Time after the last stored time in which a killed process may have run: the time is stored every minute, and that
 * write may be late.
 */
const UNRECORDED_MS = 120_000;
/** Maximum number of times of use that are remembered. */
const MAX_SPANS = 20;

type Recorded = { uses?: readonly TimeSpan[]; startedAt?: number | undefined; usedAt: number };

/** Returns the times of use before this start, oldest first. A crash loop counts as one. */
export function pastUses({ uses = [], startedAt, usedAt }: Recorded): TimeSpan[] {
  if (startedAt === undefined) return [...uses];
  const last = uses.at(-1);
  const to = usedAt + UNRECORDED_MS;
  const spans =
    last && last.from <= startedAt && startedAt <= last.to
      ? [...uses.slice(0, -1), { from: last.from, to: Math.max(last.to, to) }]
      : [...uses, { from: startedAt, to }];
  return spans.slice(-MAX_SPANS);
}

/** Returns true when `at` lies within one of the spans. */
export function isWithin(spans: readonly TimeSpan[], at: number): boolean {
  return spans.some(({ from, to }) => from <= at && at <= to);
}
