/**
 * Looking through an audience for the contacts of a segment: slice after slice, as many at a time for all who ask as there
 * are reader threads. Who asks takes turns with the others after each slice, and there are never many of them. However
 * much a filter asks of each contact, a slice is soon over: everybody else's long reads wait no longer than for one.
 */
import type { App } from '../../app.ts';
import type { ContactRow, SegmentRow } from '../../db/marketing-tables.ts';
import type { PageRequest, Slice } from '../../db/page.ts';
import { READER_THREADS } from '../../db/reader-pool.ts';
import { AppError } from '../../system/errors.ts';
import type { Filter } from './filter.ts';
import { countIdRange, findIdRange, type Question, readSegmentSlice } from './store.ts';

export type ScanLimits = {
  /** Contacts looked at in the first slice of a question, of which nobody knows yet what one costs; in no other fewer. */
  minContacts: number;
  maxContacts: number;
  /** Of a thread, for a slice: it looks at as many contacts as that is enough for. */
  sliceMs: number;
  /** Slices looked at at the same time, for all who ask. */
  maxConcurrentSlices: number;
  /** What is not found in as many leaves a page short. */
  maxSlicesPerPage: number;
  /** Under way at the same time: each waits for a slice of all the others. */
  maxScans: number;
  /** Of one tenant. */
  maxScansPerTenant: number;
};

/**
 * 5,000 contacts take some 5 ms of a thread with a filter of three rules. With 50 of them, on contacts with 32 KiB of
 * properties, they would take 4 s (measured): then 50 take 40 ms.
 */
const LIMITS: ScanLimits = {
  minContacts: 50,
  maxContacts: 5_000,
  sliceMs: 8,
  maxConcurrentSlices: READER_THREADS,
  maxSlicesPerPage: 20,
  maxScans: 32,
  maxScansPerTenant: 4,
};

type TenantId = SegmentRow['tenantId'];

export type SegmentPage = {
  /** Newest first. */
  items: ContactRow[];
  /** There may be more in the direction of travel: it was not looked to the end. */
  hasMore: boolean;
  /** Where to go on in that direction, if so: the last contact looked at, a member or not. */
  last: ContactRow['id'] | undefined;
};

export type Scans = {
  /** Ends with the reason of `gone` at its next slice. @throws AppError unavailable while too many are running */
  count(question: Question, gone?: AbortSignal): Promise<number>;
  /** @throws AppError unavailable while too many are running */
  page(question: Question, request: PageRequest): Promise<SegmentPage>;
};

export function createScans({ db }: Pick<App, 'db'>, limits: ScanLimits = LIMITS): Scans {
  const withLimit = createConcurrencyLimiter(limits.maxConcurrentSlices);
  const limitScans = createScanLimit(limits);
  const scanner = { db, withLimit, limits };
  return {
    count: (question, gone) => limitScans(question.tenantId, () => count(scanner, question, gone)),
    page: (question, request) => limitScans(question.tenantId, () => readPage(scanner, question, request)),
  };
}

type ConcurrencyLimiter = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** First come, first served, so many at a time. */
function createConcurrencyLimiter(maxRunning: number): ConcurrencyLimiter {
  const waiting: (() => void)[] = [];
  let free = maxRunning;
  return async (run) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

function createScanLimit(limits: ScanLimits) {
  const running = new Map<TenantId, number>();
  return async <Result>(tenantId: TenantId, run: () => Promise<Result>): Promise<Result> => {
    const ofTenant = running.get(tenantId) ?? 0;
    const all = [...running.values()].reduce((sum, count) => sum + count, 0);
    if (ofTenant >= limits.maxScansPerTenant || all >= limits.maxScans) {
      throw new AppError('unavailable', 'Too many segments are being looked through', {
        retryAfterSeconds: 1,
      });
    }
    running.set(tenantId, ofTenant + 1);
    try {
      return await run();
    } finally {
      const left = (running.get(tenantId) ?? 1) - 1;
      if (left === 0) running.delete(tenantId);
      else running.set(tenantId, left);
    }
  };
}

type Scanner = Pick<App, 'db'> & { withLimit: ConcurrencyLimiter; limits: ScanLimits };

/** Each slice has as many contacts as the last one lets expect to take no longer than it may. */
function createPace({ minContacts, maxContacts, sliceMs }: ScanLimits) {
  let contacts = minContacts;
  return {
    contacts: () => contacts,
    /** `tookMs`: of its thread. How long a slice waited for one says nothing of what it costs. */
    learn(scanned: number, tookMs: number): void {
      const affordable = Math.floor((scanned * sliceMs) / Math.max(tookMs, 1));
      contacts = Math.min(Math.max(affordable, minContacts), maxContacts);
    },
  };
}

/** Stretches are found one after the other, and counted side by side. */
async function count(
  { db, withLimit, limits }: Scanner,
  question: Question,
  gone?: AbortSignal,
): Promise<number> {
  const pace = createPace(limits);
  const serially = createConcurrencyLimiter(1);
  let found = 0;
  let isOver = false;
  let after: ContactRow['id'] | undefined;
  const nextIdRange = () =>
    serially(async () => {
      if (isOver) return undefined;
      const scan = pace.contacts();
      const idRange = await db.query(findIdRange, { audienceId: question.audienceId, after, scan });
      if (!idRange || idRange.scanned < scan) isOver = true;
      after = idRange?.newest;
      return idRange;
    });
  /** Whether there may be more. */
  const countNext = async (): Promise<boolean> => {
    // Asked now: many may have looked since this one began to wait.
    gone?.throwIfAborted();
    const idRange = await nextIdRange();
    if (!idRange) return false;
    const { count, tookMs } = await db.query(countIdRange, { ...question, idRange });
    pace.learn(idRange.scanned, tookMs);
    found += count;
    return true;
  };
  const countOn = async (): Promise<void> => {
    while (await withLimit(countNext));
  };
  try {
    await Promise.all(Array.from({ length: limits.maxConcurrentSlices }, countOn));
  } finally {
    isOver = true;
  }
  return found;
}

async function readPage(
  scanner: Scanner,
  question: Question,
  { limit, startingAfter, endingBefore, from, until }: PageRequest,
): Promise<SegmentPage> {
  const direction: Slice['direction'] = endingBefore === undefined ? 'older' : 'newer';
  const pace = createPace(scanner.limits);
  const found: ContactRow[] = [];
  let after = (endingBefore ?? startingAfter) as ContactRow['id'] | undefined;
  for (let slices = 0; slices < scanner.limits.maxSlicesPerPage; slices++) {
    const slice = {
      ...question,
      after,
      limit: limit + 1 - found.length,
      direction,
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
    };
    const { contacts, last } = await scanner.withLimit(async () => {
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

/** A filter as it is kept. */
export function filterOf({ filter }: Pick<SegmentRow, 'filter'>): Filter {
  return JSON.parse(filter) as Filter;
}
