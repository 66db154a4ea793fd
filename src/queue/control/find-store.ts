/** Finds and counts the recipients of a delivery queue that an action may change. queue/store.ts writes them. */
import { type RawBuilder, sql } from 'kysely';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { QueueActionRow, QueueVerb } from '../../db/queue-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { firstIdAt } from '../../system/ids.ts';
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

type Action = Selection & Pick<QueueActionRow, 'verb' | 'createdAt'>;

/** Returns the condition for the recipients of a queue that an action names. */
function isNamed(action: Action, queue: string): RawBuilder<boolean> {
  const { class: replyClass, domain, verb, createdAt } = action;
  const conditions = [sql`queue = ${queue}`];
  if (replyClass !== null) conditions.push(sql`class = ${replyClass}`);
  if (domain !== null) conditions.push(sql`domain = ${domain}`);
  if (verb === 'retry') conditions.push(sql`"dueAt" > ${createdAt} AND attempts > 0`);
  if (verb === 'fail' || verb === 'cancel') conditions.push(sql`id < ${firstIdAt('rcp', createdAt + 1)}`);
  return sql`${sql.join(conditions, sql` AND `)}`;
}

type InQueue = { queue: string; state: WalkedState; limit: number };

/**
 * Returns messages with recipients in a queue that an action names, those first that have waited longest. `isAll` is true when there are
 * no others.
 */
export async function listWaitingMessages(
  tx: Tx,
  action: Action,
  { queue, limit }: Omit<InQueue, 'state'>,
): Promise<{ messageIds: string[]; isAll: boolean }> {
  const { rows } = await sql<Pick<RecipientRow, 'messageId'>>`SELECT "messageId" FROM recipients
    WHERE ${CONDITIONS.waiting} AND ${isNamed(action, queue)} ORDER BY "dueAt" LIMIT ${limit}`.execute(tx);
  const messageIds = [...new Set(rows.map(({ messageId }) => messageId))];
  return { messageIds, isAll: rows.length < limit };
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

/** Returns the number of recipients that an action would change now. It runs on a reader thread, because there may be many. */
export const countNamed = defineRead('queue.countNamed', async (tx, action: Action): Promise<number> => {
  if (action.emailId !== null) {
    const isAtSite = await domainsAt(tx, action.site);
    const recipients = await listRecipients(tx, action.emailId);
    return recipients.filter((one) => isIn(action.verb, one) && covers(action, one, isAtSite)).length;
  }
  const states = STATES[action.verb];
  if (isEverything(action) && action.verb === 'release') return countIn(tx, sql`1`, 'held');
  let named = 0;
  const walk = { selection: action, isAtSite: await domainsAt(tx, action.site), states };
  for await (const queue of walkQueues(tx, walk))
    for (const state of states) named += await countIn(tx, isNamed(action, queue), state);
  return named;
});

async function countIn(tx: Tx, condition: RawBuilder<unknown>, state: WalkedState): Promise<number> {
  const { rows } = await sql<{ named: number }>`SELECT count(*) AS named FROM recipients
    WHERE ${CONDITIONS[state]} AND ${condition}`.execute(tx);
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
