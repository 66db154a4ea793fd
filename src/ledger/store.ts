/**
 * The ledger of broadcasts: one row for each contact, and the counts of each broadcast. All SQL of these tables is here,
 * and nothing else writes them. Rows and counts change in the same write, so the states always add up to the number of
 * recipients.
 */

import { sql } from 'kysely';
import { recordActivity } from '../audiences/contacts/activity-store.ts';
import type { BroadcastCountsRow, BroadcastRecipientRow, LedgerState } from '../db/broadcast-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findColumns, findRow, insertRow, insertRowOnce, updateRows } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { MessageRow } from '../db/tables.ts';
import { type Change, type Counts, concernsRun, countChanges, ledgerStateOf } from './outcome.ts';
import { makeIdleRunDue } from './run-store.ts';

type BroadcastId = BroadcastRecipientRow['broadcastId'];

const COUNTS = [
  ...(['recipients', 'waiting', 'queued', 'delivered', 'bounced', 'suppressed', 'optedOut'] as const),
  ...(['canceled', 'failed', 'untried', 'sent', 'bouncedPermanently', 'complained', 'opened'] as const),
  ...(['uniqueOpened', 'clicked', 'uniqueClicked', 'unsubscribed'] as const),
] satisfies readonly (keyof Counts)[];

const NO_COUNTS = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Counts;

/** Makes the counts of a broadcast that starts. */
export async function insertCounts(tx: Tx, broadcastId: BroadcastId): Promise<void> {
  await insertRow(tx, 'broadcastCounts', { broadcastId, ...NO_COUNTS });
}

const add = statement((db, param: Param<BroadcastCountsRow>) =>
  db
    .updateTable('broadcastCounts')
    .set(
      Object.fromEntries(COUNTS.map((name) => [name, sql`${sql.ref(name)} + ${param(name)}`])) as Record<
        keyof Counts,
        never
      >,
    )
    .where('broadcastId', '=', param('broadcastId'))
    .returningAll(),
);

/**
 * Adds to the counts of a broadcast, as part of the write of the change. Negative numbers subtract. Returns the counts after a
 * change, and undefined without one.
 */
export async function addCounts(
  tx: Tx,
  broadcastId: BroadcastId,
  changes: Partial<Counts>,
): Promise<Counts | undefined> {
  if (Object.keys(changes).length === 0) return undefined;
  return add.first(tx, { broadcastId, ...NO_COUNTS, ...changes });
}

/** Returns the counts of a broadcast, or undefined when it has not started. */
export function findCounts(tx: Tx, broadcastId: BroadcastId): Promise<BroadcastCountsRow | undefined> {
  return findRow(tx, 'broadcastCounts', { broadcastId });
}

/**
 * Returns the counts of a broadcast.
 * @throws Error when it has not started, which is a bug of the caller
 */
export async function getCounts(tx: Tx, broadcastId: BroadcastId): Promise<BroadcastCountsRow> {
  const counts = await findCounts(tx, broadcastId);
  if (!counts) throw new Error(`broadcast ${broadcastId} has no counts`);
  return counts;
}

/** Returns the status of a broadcast, or undefined when it does not exist. The id comes from a row, never from a caller. */
export async function findBroadcastStatus(
  tx: Tx,
  id: BroadcastRow['id'],
): Promise<BroadcastRow['status'] | undefined> {
  return (await findColumns(tx, 'broadcasts', { select: ['status'], where: { id } }))?.status;
}

/** A contact that the enumeration has found, in the state that it begins in. */
export type NewLedgerRow = Pick<
  BroadcastRecipientRow,
  'contactId' | 'address' | 'state' | 'reason' | 'mergeValues'
>;

/** Writes contacts to the ledger of a broadcast. A contact that is there already stays as it is. */
export async function insertRows(
  tx: Tx,
  { broadcastId, tenantId, now }: Pick<BroadcastRecipientRow, 'broadcastId' | 'tenantId'> & { now: number },
  rows: readonly NewLedgerRow[],
): Promise<void> {
  const changes: Partial<Counts> = {};
  for (const row of rows) {
    const whole = { broadcastId, tenantId, changedAt: now, emailId: null, ...row };
    if (!(await insertRowOnce(tx, 'broadcastRecipients', whole))) continue;
    changes.recipients = (changes.recipients ?? 0) + 1;
    changes[row.state] = (changes[row.state] ?? 0) + 1;
  }
  await addCounts(tx, broadcastId, changes);
}

type InState = Pick<BroadcastRecipientRow, 'broadcastId' | 'state'> & { after: string; limit: number };

const inState = statement((db, param: Param<InState>) =>
  db
    .selectFrom('broadcastRecipients')
    .selectAll()
    .where('broadcastId', '=', constant(param('broadcastId')))
    // Without the estimate, SQLite scans the primary key and reads all contacts that have another state.
    .where(sql<boolean>`unlikely(state = ${constant(param('state'))})`)
    .where('contactId', '>', constant(param('after') as BroadcastRecipientRow['contactId']))
    .orderBy('contactId')
    .limit(constant(param('limit'))),
);

/** Returns the next contacts of a broadcast in a state, in the order of their ids, after the id `after`. */
export function listInState(tx: Tx, query: InState): Promise<BroadcastRecipientRow[]> {
  return inState.all(tx, query);
}

/** The decision about a waiting contact: a copy, or the reason why there is none. */
export type LedgerDecision = Pick<BroadcastRecipientRow, 'contactId' | 'address' | 'emailId' | 'reason'> & {
  state: Exclude<LedgerState, 'waiting' | 'delivered' | 'bounced'>;
};

/** Stores decisions about waiting contacts of a broadcast. */
export async function settleWaiting(
  tx: Tx,
  { broadcastId, now }: { broadcastId: BroadcastId; now: number },
  decisions: readonly LedgerDecision[],
): Promise<void> {
  const changes: Partial<Counts> = {};
  for (const decision of decisions) {
    const { contactId, address, state, emailId, reason } = decision;
    await updateRows(tx, 'broadcastRecipients', {
      set: { address, state, emailId, reason, changedAt: now, mergeValues: null },
      where: { broadcastId, contactId },
    });
    changes[decision.state] = (changes[decision.state] ?? 0) + 1;
    if (decision.state === 'queued') changes.untried = (changes.untried ?? 0) + 1;
  }
  if (decisions.length > 0) changes.waiting = -decisions.length;
  await addCounts(tx, broadcastId, changes);
}

/** Delay of the next step of a run after an outcome, in milliseconds, so that the outcomes of many copies cause one step. */
const STEP_DELAY_MS = 50;

/**
 * Brings the ledger up to date with a change of a copy's recipient, as part of the write of the change, and makes the run of the
 * broadcast due when the change gives it something to do.
 */
export async function recordOutcome(
  tx: Tx,
  { broadcastId, contactId, tenantId }: Pick<MessageRow, 'broadcastId' | 'contactId' | 'tenantId'>,
  { now, diagnostic, ...change }: Change & { now: number; diagnostic: string | null },
): Promise<void> {
  if (broadcastId === null || contactId === null) return;
  const state = change.exclusion?.state ?? ledgerStateOf(change.after);
  if (state !== ledgerStateOf(change.before)) {
    const reason = state === 'delivered' ? null : (change.exclusion?.reason ?? diagnostic);
    await updateRows(tx, 'broadcastRecipients', {
      set: { state, reason, changedAt: now },
      where: { broadcastId, contactId },
    });
    if (state === 'delivered') await recordActivity(tx, contactId, { deliveredAt: now });
  }
  const changes = countChanges(change);
  const counts = await addCounts(tx, broadcastId, changes);
  if (counts && concernsRun(changes, counts))
    await makeIdleRunDue(tx, { broadcastId, tenantId }, now + STEP_DELAY_MS);
}

type Ended = {
  /** Broadcast after which the search begins; '' for the first. */
  after: string;
  /** First broadcast that is too young. */
  before: string;
  endedBy: number;
};

const endedWithRows = statement((db, param: Param<Ended>) =>
  db
    .selectFrom('broadcastRuns as run')
    .select('run.broadcastId')
    .where('run.broadcastId', '>', constant(param('after') as BroadcastId))
    .where('run.broadcastId', '<', constant(param('before') as BroadcastId))
    .where('run.endedAt', '<=', constant(param('endedBy')))
    .where((where) =>
      where.exists(
        where
          .selectFrom('broadcastRecipients as entry')
          .select('entry.state')
          .whereRef('entry.broadcastId', '=', 'run.broadcastId'),
      ),
    )
    .orderBy('run.broadcastId')
    .limit(sql.lit(1)),
);

/** Returns the next broadcast that ended at `endedBy` or before and whose ledger still has rows. */
export async function findEndedWithRows(tx: Tx, query: Ended): Promise<BroadcastId | undefined> {
  return (await endedWithRows.first(tx, query))?.broadcastId;
}

type After = Pick<BroadcastRecipientRow, 'broadcastId'> & { after: string; limit: number };

const rowsAfter = statement((db, param: Param<After>) =>
  db
    .selectFrom('broadcastRecipients')
    .select(['contactId', 'state', 'changedAt'])
    .where('broadcastId', '=', constant(param('broadcastId')))
    .where('contactId', '>', constant(param('after') as BroadcastRecipientRow['contactId']))
    .orderBy('contactId')
    .limit(constant(param('limit'))),
);

/** Returns the next contacts of a broadcast, whatever their states, in the order of their ids. */
export function listRowsAfter(
  tx: Tx,
  query: After,
): Promise<Pick<BroadcastRecipientRow, 'contactId' | 'state' | 'changedAt'>[]> {
  return rowsAfter.all(tx, query);
}

/** Deletes contacts from the ledger of a broadcast. Its counts stay as they are. */
export async function deleteRows(
  tx: Tx,
  broadcastId: BroadcastId,
  contactIds: readonly BroadcastRecipientRow['contactId'][],
): Promise<void> {
  await tx
    .deleteFrom('broadcastRecipients')
    .where('broadcastId', '=', broadcastId)
    .where('contactId', 'in', contactIds)
    .execute();
}
