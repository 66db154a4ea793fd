/** Finds and counts the recipients of a delivery queue that an action may change. queue/store.ts writes them. */
import { type RawBuilder, sql } from 'kysely';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { QueueActionRow, QueueVerb } from '../../db/queue-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { firstIdAt } from '../../system/ids.ts';
import { isUnapproved } from '../state/approval.ts';
import { listRecipients } from '../store.ts';
import { covers, isEverything, type Selection } from './selection.ts';
import { domainsAt } from './site-store.ts';
import { CONDITIONS, type WalkedState, walkQueues } from './walk-store.ts';

/** The states of the mail that each verb changes. */
export const STATES: Record<QueueVerb, readonly WalkedState[]> = {
  retry: ['waiting'],
  hold: ['waiting'],
  release: ['held'],
  fail: ['waiting', 'held'],
  cancel: ['waiting', 'held'],
  reroute: ['waiting', 'held'],
};

/** Returns true for a recipient in one of the states that the verb changes. */
export function isIn(verb: QueueVerb, { state }: Pick<RecipientRow, 'state'>): boolean {
  if (state === 'held') return STATES[verb].includes('held');
  return (state === 'ready' || state === 'deferred') && STATES[verb].includes('waiting');
}

/** A release leaves mail held that waits for the approval of a person. */
const RELEASABLE = sql`"holdReason" IS NOT 'approval'`;

type Action = Selection & Pick<QueueActionRow, 'verb' | 'createdAt'>;

/** Returns the condition for the recipients of a queue that an action names. */
function isNamed(action: Action, queue: string): RawBuilder<boolean> {
  const { class: replyClass, domain, verb, createdAt } = action;
  const conditions = [sql`queue = ${queue}`];
  if (replyClass !== null) conditions.push(sql`class = ${replyClass}`);
  if (domain !== null) conditions.push(sql`domain = ${domain}`);
  if (verb === 'release') conditions.push(RELEASABLE);
  if (verb === 'retry') conditions.push(sql`"dueAt" > ${createdAt} AND attempts > 0`);
  if (verb === 'fail' || verb === 'cancel') conditions.push(sql`id < ${firstIdAt('rcp', createdAt + 1)}`);
  return sql`${sql.join(conditions, sql` AND `)}`;
}

type InQueue = { queue: string; state: WalkedState; limit: number };

/** Maximum number of recipients of a queue that one slice examines, most of which an action with criteria may not name: some 10 ms. */
const MAX_EXAMINED = 2_000;

type WaitingSlice = Omit<InQueue, 'state'> & {
  /** Cursor of the slice before; '' for the first. */
  after: string;
  examined?: number;
};
type WaitingRow = Pick<RecipientRow, 'id' | 'messageId' | 'state' | 'dueAt'>;

/**
 * Returns messages with recipients in a queue that an action names, those first that have waited longest. `next` is the cursor of the next
 * slice; undefined when there are no others. The order is that of the index, which each slice enters at the time and the state of its cursor: only
 * the entries of recipients that are due at the same time are passed again.
 */
export async function listWaitingMessages(
  tx: Tx,
  action: Action,
  { queue, limit, after, examined = MAX_EXAMINED }: WaitingSlice,
): Promise<{ messageIds: string[]; next: string | undefined }> {
  const inOrder = sql`FROM recipients WHERE ${CONDITIONS.waiting} AND queue = ${queue} AND ${await isBehind(tx, after)}
    ORDER BY "dueAt", state, rowid`;
  const { rows } = await sql<WaitingRow>`SELECT id, "messageId", "dueAt", state FROM
    (SELECT * ${inOrder} LIMIT ${examined}) WHERE ${isNamed(action, queue)} LIMIT ${limit}`.execute(tx);
  const messageIds = [...new Set(rows.map(({ messageId }) => messageId))];
  const last = rows.at(-1);
  if (last && rows.length === limit) return { messageIds, next: cursorAt(last) };
  const { rows: ends } = await sql<WaitingRow>`SELECT id, "messageId", "dueAt", state ${inOrder}
    LIMIT 1 OFFSET ${examined - 1}`.execute(tx);
  const [end] = ends;
  return { messageIds, next: end && cursorAt(end) };
}

/** Begins each cursor of waiting mail, and no id of a message. */
const CURSOR = /^due (\d+|null) (\w+) (\w+)$/;

function cursorAt({ dueAt, state, id }: WaitingRow): string {
  return `due ${dueAt} ${state} ${id}`;
}

/** Returns true for a cursor of `listWaitingMessages`. */
export function isWaitingCursor(cursor: string): boolean {
  return CURSOR.test(cursor);
}

/**
 * Returns the condition for recipients behind a cursor. The row of the cursor tells its place among those that are due at the same time.
 * Recipients without a time, such as those of a paused broadcast, come first in the index.
 */
async function isBehind(tx: Tx, cursor: string): Promise<RawBuilder<boolean>> {
  const [, dueAt, state, id] = CURSOR.exec(cursor) ?? [];
  if (dueAt === undefined) return sql<boolean>`1`;
  const { rows } = await sql<{ row: number }>`SELECT rowid AS row FROM recipients WHERE id = ${id}`.execute(
    tx,
  );
  const row = rows[0]?.row ?? 0;
  if (dueAt === 'null') return sql<boolean>`("dueAt" IS NOT NULL OR (state, rowid) > (${state}, ${row}))`;
  return sql<boolean>`("dueAt", state, rowid) > (${Number(dueAt)}, ${state}, ${row})`;
}

/** Returns messages behind `after` with held recipients in a queue that an action names, in the order of their ids. */
export async function listHeldMessages(
  tx: Tx,
  action: Action,
  { queue, after, limit }: Omit<InQueue, 'state'> & { after: string },
): Promise<string[]> {
  const { rows } = await sql<Pick<RecipientRow, 'messageId'>>`SELECT DISTINCT "messageId" FROM recipients
    WHERE ${CONDITIONS.held} AND ${isNamed(action, queue)} AND "messageId" > ${after}
    ORDER BY "messageId" LIMIT ${limit}`.execute(tx);
  return rows.map(({ messageId }) => messageId);
}

type Count = Action & {
  /** Number behind which the count ends; undefined counts all. */
  maximum?: number | undefined;
};

/**
 * Returns the number of recipients that an action would change now, or one more than `maximum` when there are more. It runs on a reader
 * thread, because there may be many.
 */
export const countNamed = defineRead('queue.countNamed', async (tx, action: Count): Promise<number> => {
  const { maximum } = action;
  const end = maximum === undefined ? undefined : maximum + 1;
  if (action.emailId !== null) {
    const isAtSite = await domainsAt(tx, action.site);
    const recipients = await listRecipients(tx, action.emailId);
    const isChanged = (one: RecipientRow) =>
      isIn(action.verb, one) &&
      !(action.verb === 'release' && isUnapproved(one)) &&
      covers(action, one, isAtSite);
    return recipients.filter(isChanged).length;
  }
  const states = STATES[action.verb];
  if (isEverything(action) && action.verb === 'release')
    return countIn(tx, { condition: RELEASABLE, state: 'held', end });
  let named = 0;
  const walk = { selection: action, isAtSite: await domainsAt(tx, action.site), states };
  for await (const queue of walkQueues(tx, walk)) {
    for (const state of states) {
      const left = end === undefined ? undefined : end - named;
      named += await countIn(tx, { condition: isNamed(action, queue), state, end: left });
      if (named === end) return named;
    }
  }
  return named;
});

type CountedState = { condition: RawBuilder<unknown>; state: WalkedState; end: number | undefined };

/** Returns the number of recipients in a state that meet the condition, and at most `end`. A negative limit is none in SQLite. */
async function countIn(tx: Tx, { condition, state, end = -1 }: CountedState): Promise<number> {
  const { rows } = await sql<{ named: number }>`SELECT count(*) AS named FROM (SELECT 1 FROM recipients
    WHERE ${CONDITIONS[state]} AND ${condition} LIMIT ${end})`.execute(tx);
  return rows[0]?.named ?? 0;
}

/** Maximum number of recipients in flight that are read: more than the connections of a daemon have claimed. */
const MAX_IN_FLIGHT = 50_000;

/** Returns true when mail that an action names is being sent at this moment. It may still be deferred. */
export async function isBeingSent(tx: Tx, action: Action): Promise<boolean> {
  const isAtSite = await domainsAt(tx, action.site);
  const sending = await tx
    .selectFrom('recipients')
    .select(['messageId', 'domain', 'queue', 'class'])
    .where('state', '=', sql.lit('in_flight'))
    .where('id', '<', firstIdAt('rcp', action.createdAt + 1))
    .limit(MAX_IN_FLIGHT)
    .execute();
  return sending.some((recipient) => covers(action, recipient, isAtSite));
}
