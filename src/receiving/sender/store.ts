/** Stores what greylisting remembers. All SQL of this table is here, and nothing else writes it. */

import { sql } from 'kysely';
import type { GreylistEntryRow } from '../../db/inbound-tables.ts';
import { defineRead, defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, putRow } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';

/** Names the entry of a network that has passed. */
export const PASSED = '';

/** Maximum number of deferred attempts of one network, so that no client can fill the table. */
export const MAX_ATTEMPTS_PER_NETWORK = 100;
/** Maximum number of entries that one write removes. */
const SWEEP_ROWS = 1_000;

type AttemptKey = Pick<GreylistEntryRow, 'network' | 'attempt'>;

const entriesOf = statement((db, param: Param<AttemptKey>) =>
  db
    .selectFrom('greylistEntries')
    .selectAll()
    .where('network', '=', param('network'))
    .where('attempt', 'in', [constant(param('attempt')), PASSED]),
);

/** Returns the entry of an attempt and the entry of its network, as far as they exist. */
export function listEntries(tx: Tx, key: AttemptKey): Promise<GreylistEntryRow[]> {
  return entriesOf.all(tx, key);
}

const countOf = statement((db, param: Param<Pick<GreylistEntryRow, 'network'>>) =>
  db
    .selectFrom('greylistEntries')
    .select('attempt')
    .where('network', '=', param('network'))
    .limit(sql.lit(MAX_ATTEMPTS_PER_NETWORK)),
);

/** Remembers the first sight of an attempt. Returns false when its network has too many that wait. */
export const deferAttempt = defineWrite(
  'inbound.deferAttempt',
  async (tx, entry: GreylistEntryRow): Promise<boolean> => {
    const waiting = await countOf.all(tx, { network: entry.network });
    if (waiting.length >= MAX_ATTEMPTS_PER_NETWORK) return false;
    await putRow(tx, 'greylistEntries', entry);
    return true;
  },
);

/** Remembers that a network has passed. Its attempts are not needed any more. */
export const passNetwork = defineWrite(
  'inbound.passNetwork',
  async (tx, entry: Omit<GreylistEntryRow, 'attempt'>): Promise<void> => {
    await deleteRows(tx, 'greylistEntries', { network: entry.network });
    await putRow(tx, 'greylistEntries', { ...entry, attempt: PASSED });
  },
);

type Sweep = { expiredBy: number; rows: number };

const deleteSoonest = statement((db, param: Param<Sweep>) =>
  db
    .deleteFrom('greylistEntries')
    .where(
      sql<boolean>`(network, attempt) IN (SELECT network, attempt FROM "greylistEntries"
        WHERE "expiresAt" <= ${constant(param('expiredBy'))} ORDER BY "expiresAt" LIMIT ${constant(param('rows'))})`,
    )
    .returning('network'),
);

/** Removes entries that expire by `expiredBy`, in Unix milliseconds, the soonest first, and returns their number. */
export const sweepEntries = defineWrite(
  'inbound.sweepGreylist',
  async (tx, { expiredBy, rows }: Sweep): Promise<number> =>
    (await deleteSoonest.all(tx, { expiredBy, rows: Math.min(rows, SWEEP_ROWS) })).length,
  { priority: 'bulk' },
);

/** Returns the number of entries. */
export const countEntries = defineRead(
  'inbound.countGreylist',
  async (tx, _input: undefined): Promise<number> => {
    const { count } = await tx
      .selectFrom('greylistEntries')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  },
);
