/** Reads received messages for the API and for the operator. Nothing is written here. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ReceivedMessageRow, ReceivedRecipientRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type Part, type Slice, splitSlice } from '../../db/page.ts';
import { isAddressWithin } from '../../domains/reach.ts';
import { listTasksOf } from '../../inbound/tasks/read-store.ts';
import { notFound } from '../../system/errors.ts';
import type { Reach } from '../../tenants/authenticate.ts';

type TenantId = NonNullable<ReceivedMessageRow['tenantId']>;

/**
 * Returns the condition that a caller of the API sees a recipient: a route gets its mail, and the key reaches its domain. The mail of
 * mailboxes belongs to people, so that no key sees its recipients.
 */
function isSeenBy(reach: Reach, recipients: string): RawBuilder<SqlBool> {
  return sql`${sql.ref(`${recipients}.kind`)} = 'post' AND ${isAddressWithin(reach, `${recipients}.address`)}`;
}

/** Filters of the list. Addresses have the form of `addressKey`. */
export type ReceivedFilter = {
  /** A recipient of the envelope. */
  address?: string;
  routeId?: string;
  fromAddress?: string;
  fromDomain?: string;
  /** Message-ID of the header, without its angle brackets. */
  messageId?: string;
  isFlagged?: true;
  /** A task of the message, with all that is given here. */
  task?: Partial<Pick<ReceivedTaskRow, 'kind' | 'state'>>;
};

/** Filters of a list of one tenant, or of all tenants and the installation. With `reach`, it shows what a caller of the API may see. */
export type ReceivedFilters = { tenantId: TenantId | undefined; reach?: Reach; filter: ReceivedFilter };

export type ReceivedSummary = Pick<
  ReceivedMessageRow,
  | 'id'
  | 'tenantId'
  | 'sender'
  | 'headerFrom'
  | 'subject'
  | 'sizeBytes'
  | 'spamScore'
  | 'flagged'
  | 'emailId'
  | 'createdAt'
> & {
  /** JSON list of the recipients of the envelope. */
  recipients: string;
};

/**
 * Returns a received message.
 * @throws AppError not_found, also for a message of another tenant, and for one without a recipient that the caller sees
 */
export async function getReceived(tx: Tx, reach: Reach, id: string): Promise<ReceivedMessageRow> {
  return tx
    .selectFrom('receivedMessages')
    .selectAll()
    .where('tenantId', '=', reach.tenantId)
    .where('id', '=', id as ReceivedMessageRow['id'])
    .where(hasRecipient({ reach }, 'receivedMessages.id'))
    .executeTakeFirstOrThrow(() => notFound('Inbound message'));
}

/** Returns the recipients of a message that a caller sees, in the order of the envelope. */
export function listSeenRecipients(
  tx: Tx,
  reach: Reach,
  messageId: ReceivedMessageRow['id'],
): Promise<Pick<ReceivedRecipientRow, 'address' | 'targetId'>[]> {
  return tx
    .selectFrom('receivedRecipients as one')
    .select(['one.address', 'one.targetId'])
    .where('messageId', '=', messageId)
    .where(isSeenBy(reach, 'one'))
    .orderBy('position')
    .execute();
}

/** Returns the posts of a message that a caller sees: those for the recipients that it sees. */
export async function listSeenPosts(
  tx: Tx,
  reach: Reach,
  messageId: ReceivedMessageRow['id'],
): Promise<ReceivedTaskRow[]> {
  const routes = (await listSeenRecipients(tx, reach, messageId)).map(({ targetId }) => targetId);
  const tasks = await listTasksOf(tx, messageId);
  return tasks.filter(({ kind, targetId }) => kind === 'post' && routes.includes(targetId));
}

/** Lists the ids of the messages with one filter applied. Each reads an index in the order of ids. */
function candidates(tx: Tx, { tenantId, reach, filter: { address, routeId, messageId } }: ReceivedFilters) {
  let recipients = tx.selectFrom('receivedRecipients').select('messageId as id').distinct();
  if (reach) recipients = recipients.where(isSeenBy(reach, 'receivedRecipients'));
  if (address !== undefined) return recipients.where(sql<SqlBool>`lower(address) = ${address}`);
  // Literal, for the partial index `receivedRecipientsByTarget`.
  if (routeId !== undefined)
    return recipients.where('targetId', '=', routeId).where(sql<SqlBool>`kind <> 'mailbox'`);
  let all = tx.selectFrom('receivedMessages').select('id');
  if (messageId !== undefined) all = all.where('receivedMessages.messageId', '=', messageId);
  if (tenantId === undefined) return all;
  // A tenant may have millions of messages for mailboxes alone. Each half is in the order of ids, and SQLite merges them.
  const ofTenant = (isForRoute: 0 | 1) =>
    all.where('tenantId', '=', tenantId).where(sql<SqlBool>`"isForRoute" = ${sql.lit(isForRoute)}`);
  return reach ? ofTenant(1) : ofTenant(0).unionAll(ofTenant(1));
}

/** Reads one part of a slice. It examines at most `scan` messages. */
export async function readReceivedPart(
  tx: Tx,
  filters: ReceivedFilters,
  { slice, scan }: { slice: Slice; scan: number },
): Promise<Part<ReceivedSummary>> {
  const { tenantId, reach } = filters;
  const from = candidates(tx, filters).as('candidates');
  const end = await inSlice(tx.selectFrom(from).select('candidates.id'), 'candidates.id', {
    ...slice,
    limit: 1,
  })
    .offset(scan)
    .executeTakeFirst();
  const [part, rest] = end ? splitSlice(slice, end.id) : [slice, undefined];
  let query = tx
    .selectFrom(from)
    .innerJoin('receivedMessages', 'receivedMessages.id', 'candidates.id')
    .select(['receivedMessages.id', 'tenantId', 'sender', 'headerFrom', 'subject', 'sizeBytes', 'spamScore'])
    .select([
      'flagged',
      'emailId',
      'receivedMessages.createdAt',
      recipientsOfMessage(reach).as('recipients'),
    ]);
  // The plus sign keeps SQLite from an index, so that it begins with the candidates.
  if (tenantId !== undefined) query = query.where(sql<SqlBool>`+"tenantId" = ${tenantId}`);
  for (const condition of conditions(filters)) query = query.where(condition);
  return { items: await inSlice(query, 'candidates.id', part).execute(), rest };
}

/** Returns the conditions that a candidate must also fulfil. */
function conditions({ reach, filter }: ReceivedFilters) {
  const { address, routeId, fromAddress, fromDomain, messageId, isFlagged, task } = filter;
  const author = sql`lower("headerFrom")`;
  return [
    ...(address !== undefined && routeId !== undefined
      ? [hasRecipient({ reach, routeId }, 'candidates.id')]
      : []),
    ...(reach ? [hasRecipient({ reach }, 'candidates.id')] : []),
    ...(fromAddress === undefined ? [] : [sql<SqlBool>`${author} = ${fromAddress}`]),
    ...(fromDomain === undefined
      ? []
      : [sql<SqlBool>`substr(${author}, -length(${`@${fromDomain}`})) = ${`@${fromDomain}`}`]),
    ...(messageId === undefined ? [] : [sql<SqlBool>`"receivedMessages"."messageId" = ${messageId}`]),
    ...(isFlagged ? [sql<SqlBool>`flagged = 1`] : []),
    ...(task === undefined ? [] : [hasTask(task)]),
  ];
}

/** Returns the condition that a message has a recipient that the caller sees, if one is given, and that this route got, if one is given. */
function hasRecipient(
  { reach, routeId }: { reach?: Reach | undefined; routeId?: string },
  messageId: string,
) {
  const isSeen = reach ? sql`AND ${isSeenBy(reach, 'one')}` : sql``;
  const isOfRoute = routeId === undefined ? sql`` : sql`AND one."targetId" = ${routeId}`;
  return sql<SqlBool>`EXISTS (SELECT 1 FROM "receivedRecipients" AS one
    WHERE one."messageId" = ${sql.ref(messageId)} ${isSeen} ${isOfRoute})`;
}

function hasTask({ kind, state }: NonNullable<ReceivedFilter['task']>) {
  const isOfKind = kind === undefined ? sql`` : sql`AND task.kind = ${kind}`;
  const isInState = state === undefined ? sql`` : sql`AND task.state = ${state}`;
  return sql<SqlBool>`EXISTS (SELECT 1 FROM "receivedTasks" AS task
    WHERE task."messageId" = candidates.id ${isOfKind} ${isInState})`;
}

function recipientsOfMessage(reach: Reach | undefined) {
  const isSeen = reach ? sql`AND ${isSeenBy(reach, 'one')}` : sql``;
  return sql<string>`(SELECT json_group_array(address) FROM (SELECT address FROM "receivedRecipients" AS one
    WHERE one."messageId" = candidates.id ${isSeen} GROUP BY address ORDER BY min(position)))`;
}
