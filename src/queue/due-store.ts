/** Finds the mail that is due. queue/store.ts writes its rows. */
import { type RawBuilder, sql } from 'kysely';
import { defineRead, type Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import { isWaiting } from './store.ts';

/** The condition that a recipient was tried before. It is literal, as `isWaiting` is, for the index `recipientsTried`. */
const wasTried = sql<boolean>`attempts > 0`;

const dueQueues = statement((db, param: Param<{ after: number; until: number }>) =>
  db
    .selectFrom((of) =>
      of
        .selectFrom('recipients')
        .select('queue')
        .distinct()
        .where(isWaiting)
        .where('dueAt', '>', constant(param('after')))
        .where('dueAt', '<=', constant(param('until')))
        .as('due'),
    )
    .select(['due.queue', hasRetries(constant(param('until'))).as('hasRetries')]),
);

/** The condition that a queue has due recipients that were tried before, 1 or 0. */
function hasRetries(until: RawBuilder<unknown>) {
  return sql<number>`EXISTS (SELECT 1 FROM recipients
    WHERE ${isWaiting} AND ${wasTried} AND recipients.queue = due.queue AND "dueAt" <= ${until})`;
}

/** A queue with due mail. `hasRetries` is true when recipients that were tried before are among it. */
export type DueQueue = { key: string; hasRetries: boolean };

/**
 * Returns the queues with waiting mail that became due after `after` and by `until`, in Unix milliseconds. It runs on a reader
 * thread, because there may be many rows.
 */
export const listDueQueues = defineRead(
  'queue.dueQueues',
  async (tx, window: { after: number; until: number }): Promise<DueQueue[]> =>
    (await dueQueues.all(tx, window)).map(({ queue, hasRetries }) => ({
      key: queue,
      hasRetries: hasRetries === 1,
    })),
);

/** Recipients whose mail waits: those that are due by now, and those that are due later, such as scheduled ones. */
export type WaitingMail = { due: number; later: number; oldestDueAt: number | null };

/** Counts the recipients whose mail waits. With a maximum, each number is at most one more than it. */
export const sumWaiting = defineRead(
  'queue.sumWaiting',
  async (tx, { now, maximum = null }: { now: number; maximum?: number | null }): Promise<WaitingMail> => {
    // A negative limit is none.
    const limit = maximum === null ? -1 : maximum + 1;
    const count = (isCounted: RawBuilder<unknown>) =>
      sql<number>`(SELECT count(*) FROM (SELECT 1 FROM recipients WHERE ${isWaiting} AND ${isCounted} LIMIT ${limit}))`;
    const { rows } = await sql<WaitingMail>`SELECT ${count(sql`"dueAt" <= ${now}`)} AS due,
      ${count(sql`"dueAt" > ${now}`)} AS later,
      (SELECT min("dueAt") FROM recipients WHERE ${isWaiting}) AS "oldestDueAt"`.execute(tx);
    return rows[0] ?? { due: 0, later: 0, oldestDueAt: null };
  },
);

type DueInQueue = { queue: string; now: number; limit: number };

const dueInQueue = statement((db, param: Param<DueInQueue>) =>
  db
    .selectFrom('recipients')
    .select('messageId')
    .where(isWaiting)
    .where('queue', '=', constant(param('queue')))
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(constant(param('limit'))),
);

/**
 * Returns message ids of up to `limit` due recipients of the queue, the longest waiting first. A message occurs once for each of
 * its due recipients.
 */
export async function listDueInQueue(tx: Tx, query: DueInQueue): Promise<string[]> {
  const rows = await dueInQueue.all(tx, query);
  return rows.map(({ messageId }) => messageId);
}

const retriesInQueue = statement((db, param: Param<DueInQueue>) =>
  db
    .selectFrom('recipients')
    .select('messageId')
    .where(isWaiting)
    .where(wasTried)
    .where('queue', '=', constant(param('queue')))
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(constant(param('limit'))),
);

/** Returns the same as `listDueInQueue` of those recipients alone that were tried before. */
export async function listRetriesInQueue(tx: Tx, query: DueInQueue): Promise<string[]> {
  const rows = await retriesInQueue.all(tx, query);
  return rows.map(({ messageId }) => messageId);
}

const nextDue = statement((db, param: Param<{ after: number }>) =>
  db
    .selectFrom('recipients')
    .select('dueAt')
    .where(isWaiting)
    .where('dueAt', '>', constant(param('after')))
    .orderBy('dueAt')
    .limit(1),
);

/** Returns the earliest due time later than `after`, in Unix milliseconds, or undefined when there is none. */
export async function findNextDue(tx: Tx, after: number): Promise<number | undefined> {
  return (await nextDue.first(tx, { after }))?.dueAt ?? undefined;
}
