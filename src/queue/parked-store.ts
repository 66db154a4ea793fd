/** Finds parked mail, which waits without being due. queue/store.ts writes its rows. */
import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { RecipientRow } from '../db/tables.ts';
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
