/**
 * Counts what waits in each delivery queue. Counting reads an entry of an index for each recipient, so a long queue is counted in the
 * background from time to time, and its numbers are as old as they say.
 */
import type { App } from '../../app.ts';
import type { Work } from '../../system/worker.ts';
import { countOthers, countWaiting, QUEUES_PER_PART, type QueueCount } from './census-store.ts';

export type Census = {
  queues: readonly QueueCount[];
  /** Time of the count, in Unix milliseconds. */
  at: number;
  tookMs: number;
};

/** The numbers of a queue with nothing in it. */
export const NONE = {
  waiting: 0,
  deferred: 0,
  due: 0,
  held: 0,
  oldestHeld: null,
  inFlight: 0,
  oldestInFlight: null,
  nextDueAt: null,
} as const;

/** Counts all delivery queues, part by part. */
async function countQueues(db: App['db'], now: number): Promise<QueueCount[]> {
  const counts = new Map<string, QueueCount>();
  const add = (queue: string, some: Partial<QueueCount>) => {
    counts.set(queue, { ...NONE, ...counts.get(queue), ...some, queue });
  };
  for (let after = ''; ; ) {
    const part = await db.query(countWaiting, { now, after });
    for (const { queue, ...some } of part) add(queue, some);
    after = part.at(-1)?.queue ?? '';
    if (part.length < QUEUES_PER_PART) break;
  }
  const { held, inFlight } = await db.query(countOthers, undefined);
  for (const { queue, recipients, oldest } of held) add(queue, { held: recipients, oldestHeld: oldest });
  for (const { queue, recipients, oldest } of inFlight)
    add(queue, { inFlight: recipients, oldestInFlight: oldest });
  return [...counts.values()];
}

/** Number of recipients up to which they are counted anew whenever somebody asks: some milliseconds of a reader thread. */
const MAX_COUNTED_ANEW = 50_000;
/** Time between two counts in the background, and the time for each millisecond that a count takes: 1 % of a reader thread. */
const PERIOD_MS = 15_000;
const PERIOD_PER_MS = 100;

function countAll({ queues }: Census): number {
  return queues.reduce((sum, { waiting, held, inFlight }) => sum + waiting + held + inFlight, 0);
}

/** The counts of the queues. */
export class Censuses {
  readonly #app: Pick<App, 'db' | 'clock'>;
  #last: Census | undefined;
  #counting: Promise<Census> | undefined;

  constructor(app: Pick<App, 'db' | 'clock'>) {
    this.#app = app;
  }

  /** Time for which the mail that is due longest had been due at the last count, in milliseconds; 0 when none is. */
  get oldestDueMs(): number {
    if (this.#last === undefined) return 0;
    const { queues, at } = this.#last;
    return queues.reduce((oldest, { nextDueAt }) => Math.max(oldest, at - (nextDueAt ?? at)), 0);
  }

  /** Returns the last count, or makes one when there is none or the queue is short. */
  async read(): Promise<Census> {
    const last = this.#last;
    return last !== undefined && countAll(last) > MAX_COUNTED_ANEW ? last : this.count();
  }

  /** Counts the queues. */
  count(): Promise<Census> {
    this.#counting ??= this.#count().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #count(): Promise<Census> {
    const { db, clock } = this.#app;
    const at = clock.now();
    const begunAt = clock.elapsed();
    const queues = await countQueues(db, at);
    this.#last = { queues, at, tookMs: clock.elapsed() - begunAt };
    return this.#last;
  }
}

/** Returns the work that counts from time to time, so that numbers which are asked for are never old. */
export function createCensusWork({ clock }: Pick<App, 'clock'>, censuses: Censuses): Work<'count'> {
  let dueAt = clock.elapsed();
  return {
    name: 'queue census',
    async lease() {
      const waitMs = dueAt - clock.elapsed();
      if (waitMs <= 0) return { items: ['count'], nextDueAt: undefined };
      return { items: [], nextDueAt: clock.now() + waitMs };
    },
    async run() {
      const { tookMs } = await censuses.count();
      dueAt = clock.elapsed() + Math.max(PERIOD_MS, PERIOD_PER_MS * tookMs);
    },
  };
}
