/**
 * Makes the report of `GET /v1/metrics`, slice by slice on a reader thread: from the counters, or by tag from the events of
 * each email. Slices are short, so that other long reads wait for one slice at most.
 */
import type { App } from '../app.ts';
import { type CountedSpan, readCounts } from '../counts/store.ts';
import { COUNTERS } from '../counts/tally.ts';
import { READER_THREADS } from '../db/reader-pool.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError, invalid } from '../system/errors.ts';
import type { ReportQuery } from './query.ts';
import { recount } from './recount/store.ts';

/** Number of rows of counters in a slice, which take a thread about 10 ms. */
const ROWS_PER_SLICE = 5_000;
/** Maximum number of rows of an answer, which then has about 2 MiB. It covers 31 days by hour and provider. */
export const MAX_ROWS = 4_000;
/** Maximum number of tenants whose emails are counted by tag at the same time, one report for each. */
const MAX_RECOUNTS = 4;

type Reports = {
  /**
   * Returns the spans of a report, oldest first. When `gone` is aborted, it rejects with the reason of the abort before the
   * next slice.
   * @throws AppError validation_error for a report of too many rows; unavailable while another report by tag is made
   */
  read(query: ReportQuery, gone: AbortSignal): Promise<CountedSpan[]>;
};

/** Creates the reports of the daemon, which share their limits. */
export function createReports({ db }: Pick<App, 'db'>): Reports {
  // Other long reads, such as the search for mail that is due, then wait for one slice at most.
  const slices = new ConcurrencyLimiter({ maxRunning: READER_THREADS });
  const recounts = new ConcurrencyLimiter({ maxRunning: MAX_RECOUNTS, perFree: 0, maxWaiting: 0 });
  return {
    read: async ({ tags, ...query }, gone) => {
      const inSlices: InSlices = (read) => slices.run(read, { owner: query.tenantId });
      if (tags === undefined)
        return readSlices(gone, (after) =>
          inSlices(() => db.query(readCounts, { ...query, after, rows: ROWS_PER_SLICE })),
        );
      const read = () =>
        readSlices(gone, (after) => inSlices(() => db.query(recount, { ...query, tags, after })));
      const running = recounts.tryRun(read, { owner: query.tenantId });
      if (running !== undefined) return running;
      throw new AppError('unavailable', 'Another report by tag is being made', { retryAfterSeconds: 1 });
    },
  };
}

/** Runs the read of a slice when it is the turn of its tenant. */
type InSlices = <Result>(read: () => Promise<Result>) => Promise<Result>;

type Part<Position> = { spans: readonly CountedSpan[]; next: Position | null };

/** Reads all slices, the first one after null, and adds up what they have of the same hour or day and group. */
async function readSlices<Position>(
  gone: AbortSignal,
  readSlice: (after: Position | null) => Promise<Part<Position>>,
): Promise<CountedSpan[]> {
  const byName = new Map<string, CountedSpan>();
  let after: Position | null = null;
  do {
    gone.throwIfAborted();
    const { spans, next }: Part<Position> = await readSlice(after);
    for (const span of spans) {
      const name = `${span.start} ${span.group ?? ''}`;
      const known = byName.get(name);
      if (known) addTo(known, span);
      else byName.set(name, { ...span });
    }
    if (byName.size > MAX_ROWS)
      throw invalid('from', `The answer would have more than ${MAX_ROWS} rows: choose a shorter time`);
    after = next;
  } while (after !== null);
  return [...byName.values()].sort(
    (a, b) => a.start - b.start || ((a.group ?? '') < (b.group ?? '') ? -1 : 1),
  );
}

/** Adds the counters of one span to another. */
export function addTo(sum: Record<(typeof COUNTERS)[number], number>, more: CountedSpan): void {
  for (const counter of COUNTERS) sum[counter] += more[counter];
}
