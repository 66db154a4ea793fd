/**
 * Looking through an audience for the contacts of a segment: slice after slice on a reader thread, and one slice at a time
 * for all who ask, so that they leave a thread for everybody else's long reads. Who asks takes turns with the others
 * after each slice, and there are never many of them. However much a filter asks of each contact, a slice is soon over.
 */
import type { App } from '../../app.ts';
import type { ContactRow, SegmentRow } from '../../db/marketing-tables.ts';
import type { PageRequest, Slice } from '../../db/page.ts';
import { AppError } from '../../system/errors.ts';
import type { Filter } from './filter.ts';
import { countSegmentSlice, readSegmentSlice, type SegmentSlice, type Took } from './store.ts';

export type LookLimits = {
  /** Contacts looked at in the first slice of a question, of which nobody knows yet what one costs; in no other fewer. */
  leastContacts: number;
  mostContacts: number;
  /** Of a thread, for a slice: it looks at as many contacts as that is enough for. */
  sliceMs: number;
  /** What is not found in as many leaves a page short. */
  slicesPerPage: number;
  /** Under way at the same time: each waits for a slice of all the others. */
  looks: number;
  /** Of one tenant. */
  looksOfTenant: number;
};

/**
 * 20,000 contacts take some 20 ms of a thread with a filter of three rules. With 50 of them, on contacts with 32 KiB of
 * properties, they would take 15 s (measured): then 50 take 40 ms.
 */
const LIMITS: LookLimits = {
  ...{ leastContacts: 50, mostContacts: 20_000, sliceMs: 30 },
  ...{ slicesPerPage: 5, looks: 32, looksOfTenant: 4 },
};

type TenantId = SegmentRow['tenantId'];

/** What is looked through, and what for. */
export type Question = Pick<SegmentSlice, 'tenantId' | 'audienceId' | 'filter' | 'now'>;

export type SegmentPage = {
  /** Newest first. */
  items: ContactRow[];
  /** There may be more in the direction of travel: it was not looked to the end. */
  hasMore: boolean;
  /** Where to go on in that direction, if so: the last contact looked at, a member or not. */
  last: ContactRow['id'] | undefined;
};

export type Looks = {
  /** Ends with the reason of `gone` at its next slice. @throws AppError unavailable while too many are looking */
  count(question: Question, gone?: AbortSignal): Promise<number>;
  /** @throws AppError unavailable while too many are looking */
  page(question: Question, request: PageRequest): Promise<SegmentPage>;
};

export function createLooks({ db }: Pick<App, 'db'>, limits: LookLimits = LIMITS): Looks {
  const inTurn = createTurns();
  const admit = createAdmission(limits);
  const looker = { db, inTurn, limits };
  return {
    count: (question, gone) => admit(question.tenantId, () => count(looker, question, gone)),
    page: (question, request) => admit(question.tenantId, () => readPage(looker, question, request)),
  };
}

type InTurn = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** First come, first served, one at a time. */
function createTurns(): InTurn {
  let before: Promise<unknown> = Promise.resolve();
  return (run) => {
    const result = before.then(run);
    before = result.catch(() => undefined);
    return result;
  };
}

function createAdmission(limits: LookLimits) {
  const looking = new Map<TenantId, number>();
  return async <Result>(tenantId: TenantId, run: () => Promise<Result>): Promise<Result> => {
    const ofTenant = looking.get(tenantId) ?? 0;
    const all = [...looking.values()].reduce((sum, count) => sum + count, 0);
    if (ofTenant >= limits.looksOfTenant || all >= limits.looks) {
      throw new AppError('unavailable', 'Too many segments are being looked through', {
        retryAfterSeconds: 1,
      });
    }
    looking.set(tenantId, ofTenant + 1);
    try {
      return await run();
    } finally {
      const left = (looking.get(tenantId) ?? 1) - 1;
      if (left === 0) looking.delete(tenantId);
      else looking.set(tenantId, left);
    }
  };
}

type Looker = Pick<App, 'db'> & { inTurn: InTurn; limits: LookLimits };

/** `scan`: contacts to look at. */
type Look<Found> = (scan: number) => Promise<Found>;

/**
 * Looks in turn, each time at as many contacts as the time before lets expect to take no longer than a slice may. How long
 * it waited for its thread says nothing of that.
 */
function createPace(
  { inTurn, limits }: Looker,
  gone?: AbortSignal,
): <Found extends Took>(look: Look<Found>) => Promise<Found> {
  const { leastContacts, mostContacts, sliceMs } = limits;
  let scan = leastContacts;
  return (look) =>
    inTurn(async () => {
      // Asked now: many may have looked since this one began to wait.
      gone?.throwIfAborted();
      const found = await look(scan);
      const affordable = Math.floor((scan * sliceMs) / Math.max(found.tookMs, 1));
      scan = Math.min(Math.max(affordable, leastContacts), mostContacts);
      return found;
    });
}

async function count(looker: Looker, question: Question, gone?: AbortSignal): Promise<number> {
  const atPace = createPace(looker, gone);
  let found = 0;
  let after: ContactRow['id'] | undefined;
  do {
    const slice = { ...question, after };
    const { count: inSlice, last } = await atPace((scan) =>
      looker.db.query(countSegmentSlice, { ...slice, scan }),
    );
    found += inSlice;
    after = last;
  } while (after !== undefined);
  return found;
}

async function readPage(
  looker: Looker,
  question: Question,
  { limit, startingAfter, endingBefore, from, until }: PageRequest,
): Promise<SegmentPage> {
  const direction: Slice['direction'] = endingBefore === undefined ? 'older' : 'newer';
  const atPace = createPace(looker);
  const found: ContactRow[] = [];
  let after = (endingBefore ?? startingAfter) as ContactRow['id'] | undefined;
  for (let slices = 0; slices < looker.limits.slicesPerPage; slices++) {
    const slice = {
      ...{ ...question, after, limit: limit + 1 - found.length, direction },
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
    };
    const { contacts, last } = await atPace((scan) => looker.db.query(readSegmentSlice, { ...slice, scan }));
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
