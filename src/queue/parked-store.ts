/** Finds parked mail, which waits without being due, and all mail of a delivery queue. queue/store.ts writes the rows. */
import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { RecipientRow } from '../db/tables.ts';
import { CONDITIONS, type WalkedState } from './control/walk-store.ts';
import { isWaiting } from './store.ts';

type ParkedIn = Pick<RecipientRow, 'queue' | 'state'> & {
  /** Row after which the search begins; 0 for the first. */
  after: number;
  limit: number;
};

/** The index `recipientsDueByLane` has these rows in the order of their numbers. */
const parkedIn = statement((db, param: Param<ParkedIn>) =>
  db
    .selectFrom('recipients')
    .select([sql<number>`recipients.rowid`.as('row'), 'messageId'])
    .where(isWaiting)
    .where('queue', '=', constant(param('queue')))
    .where('dueAt', 'is', null)
    .where('state', '=', constant(param('state')))
    .where(sql<boolean>`recipients.rowid > ${constant(param('after'))}`)
    .orderBy(sql`recipients.rowid`)
    .limit(constant(param('limit'))),
);

/** Returns the next parked recipients of a delivery queue in a state, by the numbers of their rows. */
export function listParked(
  tx: Tx,
  query: ParkedIn,
): Promise<(Pick<RecipientRow, 'messageId'> & { row: number })[]> {
  return parkedIn.all(tx, query);
}

/** Returns messages with recipients in a delivery queue that wait or are held. */
export async function listInQueue(
  tx: Tx,
  { queue, state, limit }: { queue: string; state: WalkedState; limit: number },
): Promise<ReadonlySet<string>> {
  const found = tx.selectFrom('recipients').select('messageId').where(CONDITIONS[state]);
  const rows = await found.where('queue', '=', queue).limit(limit).execute();
  return new Set(rows.map(({ messageId }) => messageId));
}

/** Maximum number of recipients in flight that are read: more than the connections of a daemon have claimed. */
const MAX_IN_FLIGHT = 50_000;

/** Returns the delivery queues of all mail that is being sent at this moment. */
export async function listQueuesInFlight(tx: Tx): Promise<readonly string[]> {
  // Literal, for the partial index `recipientsInFlight`.
  const inFlight = tx.selectFrom('recipients').select('queue').where(sql<boolean>`state = 'in_flight'`);
  return (await inFlight.limit(MAX_IN_FLIGHT).execute()).map(({ queue }) => queue);
}
