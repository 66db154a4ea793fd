/** Walks the delivery queues with mail that waits or is held, in the order of their keys. It finds each with one search of an index. */
import { sql } from 'kysely';
import type { Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { parseQueueKey } from '../queue-key.ts';
import { isWaiting } from '../store.ts';
import { type IsAtSite, keyAfter, mayCover, type Selection, seekPast } from './selection.ts';

/** Mail that waits for its next attempt, or that is held. Each has an index of its own. */
export type WalkedState = 'waiting' | 'held';

/** The conditions are literal, for the partial indexes `recipientsDueByLane` and `recipientsHeld`. */
export const CONDITIONS = {
  waiting: isWaiting,
  held: sql<boolean>`state = 'held'`,
} as const satisfies Record<WalkedState, unknown>;

const nextOf = (state: WalkedState) =>
  statement((db, param: Param<{ from: string }>) =>
    db
      .selectFrom('recipients')
      .select('queue')
      .where(CONDITIONS[state])
      .where('queue', '>=', constant(param('from')))
      .orderBy('queue')
      .limit(sql.lit(1)),
  );
const NEXT = { waiting: nextOf('waiting'), held: nextOf('held') };

/** Returns the first queue at or behind a key with mail in one of the states; undefined when there is none. */
async function findQueue(tx: Tx, states: readonly WalkedState[], from: string): Promise<string | undefined> {
  const found: string[] = [];
  for (const state of states) {
    const row = await NEXT[state].first(tx, { from });
    if (row) found.push(row.queue);
  }
  return found.sort()[0];
}

type Walk = {
  selection: Selection;
  isAtSite: IsAtSite;
  states: readonly WalkedState[];
  /** Key at which the search begins; '' for the first queue. */
  from: string;
  /** Maximum number of searches. */
  maxSearches: number;
};

type Found = {
  /** The next queue whose mail the selection may name; undefined when there is none, or the search must go on at `from`. */
  queue: string | undefined;
  /** Key at which the search goes on; undefined when it has come to the end. */
  from: string | undefined;
};

/** Finds the next delivery queue whose mail the selection may name. */
export async function findNextQueue(
  tx: Tx,
  { selection, isAtSite, states, from, maxSearches }: Walk,
): Promise<Found> {
  let at = from;
  for (let searches = 0; searches < maxSearches; searches++) {
    const queue = await findQueue(tx, states, at);
    if (queue === undefined) return { queue, from: undefined };
    if (mayCover(selection, parseQueueKey(queue), isAtSite)) return { queue, from: keyAfter(queue) };
    at = seekPast(queue, selection);
  }
  return { queue: undefined, from: at };
}

/** Number of searches after which other work on the thread may run. */
const SEARCHES_PER_STEP = 500;

/** Yields the delivery queues whose mail the selection may name. It is for reads: it takes as long as there are queues. */
export async function* walkQueues(tx: Tx, walk: Omit<Walk, 'from' | 'maxSearches'>): AsyncIterable<string> {
  for (let from: string | undefined = ''; from !== undefined; ) {
    const found: Found = await findNextQueue(tx, { ...walk, from, maxSearches: SEARCHES_PER_STEP });
    if (found.queue !== undefined) yield found.queue;
    from = found.from;
  }
}
