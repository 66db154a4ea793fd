/**
 * Scans an audience for the contacts of a segment, one slice after the other. All scans together use at most as many
 * slices at the same time as there are reader threads, and queue again after each slice. Slices are short, however slow a
 * filter is, so that other long reads wait for one slice at most.
 */
import type { App } from '../../app.ts';
import type { ContactRow, SegmentRow } from '../../db/marketing-tables.ts';
import type { PageRequest, Slice } from '../../db/page.ts';
import { READER_THREADS } from '../../db/reader-pool.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { AppError } from '../../system/errors.ts';
import type { Filter } from './filter.ts';
import { countIdRange, findIdRange, type IdRange, readSegmentSlice, type SegmentQuery } from './store.ts';

export type ScanLimits = {
  /** Minimum number of contacts in a slice. The first slice has as many, because the cost of one is not known yet. */
  minContacts: number;
  /** Maximum number of contacts in a slice. */
  maxContacts: number;
  /** Time of a thread that a slice may take, in milliseconds. The number of contacts in a slice is adjusted to it. */
  sliceMs: number;
  /** Maximum number of slices that all scans together read at the same time. */
  maxConcurrentSlices: number;
  /** Maximum number of slices for one page. A page is short when it is not full after as many. */
  maxSlicesPerPage: number;
  /** Maximum number of concurrent scans. Each waits for one slice of every other. */
  maxScans: number;
  /** Number of scans that a tenant may run for each free one (system/shares.ts). */
  scansPerFree: number;
};

/**
 * Limits of the daemon, from measurements. With a filter of three rules, 5,000 contacts take about 5 ms of a thread. With
 * 50 rules, and contacts with 32 KiB of properties, they would take 4 s; a slice then shrinks to 50 contacts and 40 ms.
 */
const LIMITS: ScanLimits = {
  minContacts: 50,
  maxContacts: 5_000,
  sliceMs: 8,
  maxConcurrentSlices: READER_THREADS,
  maxSlicesPerPage: 20,
  maxScans: 32,
  // A tenant alone runs at most four.
  scansPerFree: 1 / 7,
};

type TenantId = SegmentRow['tenantId'];

export type SegmentPage = {
  /** Contacts of the segment, newest first. */
  items: ContactRow[];
  /** True when the scan did not reach the end of the audience in the direction of the page. */
  hasMore: boolean;
  /** Contact at which the next page continues: the last one scanned, in the segment or not. Undefined at the end. */
  last: ContactRow['id'] | undefined;
};

type Visit = (idRange: IdRange) => Promise<{ tookMs: number }>;

export type Scans = {
  /**
   * Counts the contacts of a segment. When `gone` is aborted, the scan ends at the next slice and rejects with its reason.
   * @throws AppError unavailable while too many scans are running
   */
  count(query: SegmentQuery, gone?: AbortSignal): Promise<number>;
  /**
   * Visits every contact of an audience once, in ranges of ids and in no order. `visit` reads one range and returns the
   * time that it took of a thread, in milliseconds. When `gone` is aborted, the scan ends at the next range and rejects
   * with its reason.
   * @throws AppError unavailable while too many scans are running; any error of `visit`
   */
  visit(
    audience: Pick<SegmentQuery, 'tenantId' | 'audienceId'>,
    visit: Visit,
    gone?: AbortSignal,
  ): Promise<void>;
  /**
   * Returns a page of the contacts of a segment.
   * @throws AppError unavailable while too many scans are running
   */
  page(query: SegmentQuery, request: PageRequest): Promise<SegmentPage>;
};

/** Creates the scans of the daemon, which share their limits. */
export function createScans({ db }: Pick<App, 'db'>, limits: ScanLimits = LIMITS): Scans {
  const { maxScans, scansPerFree, maxConcurrentSlices } = limits;
  const scans = new ConcurrencyLimiter({ maxRunning: maxScans, perFree: scansPerFree, maxWaiting: 0 });
  const scanner = { db, slices: new ConcurrencyLimiter({ maxRunning: maxConcurrentSlices }), limits };
  const limit = async <Result>(owner: TenantId, scan: () => Promise<Result>): Promise<Result> => {
    const scanned = scans.tryRun(scan, { owner });
    if (scanned !== undefined) return scanned;
    throw new AppError('unavailable', 'Too many segments are being scanned at the same time', {
      retryAfterSeconds: 1,
    });
  };
  return {
    count: (query, gone) => limit(query.tenantId, () => count(scanner, query, gone)),
    visit: ({ tenantId, audienceId }, visit, gone) =>
      limit(tenantId, () => visitRanges(scanner, { audienceId, visit, gone })),
    page: (query, request) => limit(query.tenantId, () => readPage(scanner, query, request)),
  };
}

type Scanner = Pick<App, 'db'> & { slices: ConcurrencyLimiter; limits: ScanLimits };

/** Chooses the number of contacts of each slice, so that it takes `sliceMs` if contacts cost as much as in the last one. */
function createPace({ minContacts, maxContacts, sliceMs }: ScanLimits) {
  let contacts = minContacts;
  return {
    contacts: () => contacts,
    /** Learns what a slice cost. `tookMs` is time of the thread, without the wait for it. */
    learn(scanned: number, tookMs: number): void {
      const affordable = Math.floor((scanned * sliceMs) / Math.max(tookMs, 1));
      contacts = Math.min(Math.max(affordable, minContacts), maxContacts);
    },
  };
}

/** Counts the contacts of a segment. */
async function count(scanner: Scanner, query: SegmentQuery, gone?: AbortSignal): Promise<number> {
  let found = 0;
  const visit: Visit = async (idRange) => {
    const { count: more, tookMs } = await scanner.db.query(countIdRange, { ...query, idRange });
    found += more;
    return { tookMs };
  };
  await visitRanges(scanner, { audienceId: query.audienceId, visit, gone });
  return found;
}

type Visiting = Pick<SegmentQuery, 'audienceId'> & { visit: Visit; gone: AbortSignal | undefined };

/** Visits all contacts of an audience. Ranges of ids are found one after the other and visited in parallel. */
async function visitRanges(
  { db, slices, limits }: Scanner,
  { audienceId, visit, gone }: Visiting,
): Promise<void> {
  const pace = createPace(limits);
  const serially = new ConcurrencyLimiter({ maxRunning: 1 });
  let isOver = false;
  let after: ContactRow['id'] | undefined;
  const nextIdRange = () =>
    serially.run(async () => {
      if (isOver) return undefined;
      const scan = pace.contacts();
      const idRange = await db.query(findIdRange, { audienceId, after, scan });
      if (!idRange || idRange.scanned < scan) isOver = true;
      after = idRange?.newest;
      return idRange;
    });
  /** Visits the next range. Returns false at the end. */
  const visitNext = async (): Promise<boolean> => {
    // The caller may have left while this slice waited for its thread.
    gone?.throwIfAborted();
    const idRange = await nextIdRange();
    if (!idRange) return false;
    const { tookMs } = await visit(idRange);
    pace.learn(idRange.scanned, tookMs);
    return true;
  };
  const visitAll = async (): Promise<void> => {
    while (await slices.run(visitNext));
  };
  try {
    await Promise.all(Array.from({ length: limits.maxConcurrentSlices }, visitAll));
  } finally {
    isOver = true;
  }
}

async function readPage(
  scanner: Scanner,
  query: SegmentQuery,
  { limit, startingAfter, endingBefore, from, until }: PageRequest,
): Promise<SegmentPage> {
  const direction: Slice['direction'] = endingBefore === undefined ? 'older' : 'newer';
  const pace = createPace(scanner.limits);
  const found: ContactRow[] = [];
  let after = (endingBefore ?? startingAfter) as ContactRow['id'] | undefined;
  for (let slices = 0; slices < scanner.limits.maxSlicesPerPage; slices++) {
    const slice = {
      ...query,
      after,
      limit: limit + 1 - found.length,
      direction,
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
    };
    const { contacts, last } = await scanner.slices.run(async () => {
      const scan = pace.contacts();
      const read = await scanner.db.query(readSegmentSlice, { ...slice, scan });
      pace.learn(scan, read.tookMs);
      return read;
    });
    found.push(...contacts);
    after = last;
    if (found.length > limit || after === undefined) break;
  }
  const isFull = found.length > limit;
  const items = found.slice(0, limit);
  const last = isFull ? items.at(-1)?.id : after;
  return { items: direction === 'newer' ? items.reverse() : items, hasMore: last !== undefined, last };
}

/** Parses the filter of a stored segment. */
export function filterOf({ filter }: Pick<SegmentRow, 'filter'>): Filter {
  return JSON.parse(filter) as Filter;
}
