/** Counts the recipients of delivery queues. queue/store.ts writes them. */
import { sql } from 'kysely';
import { defineRead, type Tx } from '../../db/operation.ts';

/** Numbers of recipients of a delivery queue. Times are Unix milliseconds. */
export type QueueCount = {
  queue: string;
  /** Recipients that wait, whenever they are due. */
  waiting: number;
  /** Those of them whose last attempt was deferred. */
  deferred: number;
  /** Those of them that are due. */
  due: number;
  held: number;
  /** Id of the oldest message with held recipients, and with recipients that are being sent to; null when there is none. */
  oldestHeld: string | null;
  inFlight: number;
  oldestInFlight: string | null;
  /** Time at which the first of those that wait was or is due; null when none has a time. */
  nextDueAt: number | null;
};

type Waiting = Pick<QueueCount, 'queue' | 'waiting' | 'deferred' | 'due' | 'nextDueAt'>;

/** Number of delivery queues that are counted at once, before other work on the reader thread may run. */
export const QUEUES_PER_PART = 200;

/** Counts what waits in the next delivery queues. The conditions are literal, for the partial indexes. */
export const countWaiting = defineRead(
  'queue.countWaiting',
  async (tx, { now, after }: { now: number; after: string }): Promise<Waiting[]> => {
    const { rows } =
      await sql<Waiting>`SELECT queue, count(*) AS waiting, sum(state = 'deferred') AS deferred,
        ifnull(sum("dueAt" <= ${now}), 0) AS due, min("dueAt") AS "nextDueAt"
      FROM recipients WHERE state IN ('ready', 'deferred') AND queue > ${after}
      GROUP BY queue ORDER BY queue LIMIT ${QUEUES_PER_PART}`.execute(tx);
    return rows;
  },
);

/** Counts what is held and what is being sent. */
export const countOthers = defineRead('queue.countOthers', async (tx, _input: undefined) => ({
  held: await countIn(tx, 'held'),
  inFlight: await countIn(tx, 'in_flight'),
}));

/** `oldest` is the id of the oldest message. */
type Counted = { queue: string; recipients: number; oldest: string };

async function countIn(tx: Tx, state: 'held' | 'in_flight'): Promise<Counted[]> {
  const { rows } = await sql<Counted>`SELECT queue, count(*) AS recipients, min("messageId") AS oldest
    FROM recipients WHERE state = ${sql.lit(state)} GROUP BY queue`.execute(tx);
  return rows;
}
