/** Reads received messages for the API and for the operator. Nothing is written here. */
import { type SqlBool, sql } from 'kysely';
import type { ReceivedMessageRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type Slice } from '../../db/page.ts';
import { notFound } from '../../system/errors.ts';

type TenantId = NonNullable<ReceivedMessageRow['tenantId']>;

/** Filters of the list. Addresses have the form of `addressKey`. */
export type ReceivedFilter = {
  /** A recipient of the envelope. */
  address?: string;
  routeId?: string;
  fromAddress?: string;
  fromDomain?: string;
  isFlagged?: true;
  /** A task of the message, with all that is given here. */
  task?: Partial<Pick<ReceivedTaskRow, 'kind' | 'state'>>;
};

/** Filters of a list of one tenant, or of all tenants and the installation. */
export type ReceivedFilters = { tenantId: TenantId | undefined; filter: ReceivedFilter };

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
 * @throws AppError not_found, also for a message of another tenant
 */
export async function getReceived(tx: Tx, tenantId: TenantId, id: string): Promise<ReceivedMessageRow> {
  const row = await tx
    .selectFrom('receivedMessages')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('id', '=', id as ReceivedMessageRow['id'])
    .executeTakeFirst();
  if (!row) throw notFound('Inbound message');
  return row;
}

/** Lists the ids of the messages with one filter applied. Each walks an index in the order of ids. */
function candidates(tx: Tx, { tenantId, filter: { address, routeId } }: ReceivedFilters) {
  const recipients = tx.selectFrom('receivedRecipients').select('messageId as id').distinct();
  if (address !== undefined) return recipients.where(sql<SqlBool>`lower(address) = ${address}`);
  if (routeId !== undefined) return recipients.where('targetId', '=', routeId);
  const all = tx.selectFrom('receivedMessages').select('id');
  return tenantId === undefined ? all : all.where('tenantId', '=', tenantId);
}

type Candidate = { id: ReceivedMessageRow['id'] };

/** A part of the list, and the rest of the slice that was not examined; undefined when everything was. */
export type ReceivedPart = { messages: ReceivedSummary[]; rest: Slice | undefined };

/** Reads one part of a slice. It examines at most `scan` messages. */
export async function readReceivedPart(
  tx: Tx,
  filters: ReceivedFilters,
  { slice, scan }: { slice: Slice; scan: number },
): Promise<ReceivedPart> {
  const { tenantId, filter } = filters;
  const from = candidates(tx, filters).as('candidates');
  const end = await inSlice(tx.selectFrom(from).select('candidates.id'), 'candidates.id', {
    ...slice,
    limit: 1,
  })
    .offset(scan)
    .executeTakeFirst();
  const [part, rest] = end ? splitAt(slice, end) : [slice, undefined];
  let query = tx
    .selectFrom(from)
    .innerJoin('receivedMessages', 'receivedMessages.id', 'candidates.id')
    .select(['receivedMessages.id', 'tenantId', 'sender', 'headerFrom', 'subject', 'sizeBytes', 'spamScore'])
    .select(['flagged', 'emailId', 'receivedMessages.createdAt', recipientsOfMessage().as('recipients')]);
  if (tenantId !== undefined) query = query.where('tenantId', '=', tenantId);
  for (const condition of conditions(filter)) query = query.where(condition);
  return { messages: await inSlice(query, 'candidates.id', part).execute(), rest };
}

/** Returns the part of a slice before an id, and the part that begins with it. */
function splitAt(slice: Slice, { id }: Candidate): [Slice, Slice] {
  return slice.direction === 'older'
    ? [
        { ...slice, from: id },
        { ...slice, cursor: id },
      ]
    : [
        { ...slice, until: id },
        { ...slice, cursor: undefined, from: id },
      ];
}

/** Returns the conditions that a candidate must also fulfil. */
function conditions({ address, routeId, fromAddress, fromDomain, isFlagged, task }: ReceivedFilter) {
  const author = sql`lower("headerFrom")`;
  return [
    ...(address !== undefined && routeId !== undefined ? [isFor(routeId)] : []),
    ...(fromAddress === undefined ? [] : [sql<SqlBool>`${author} = ${fromAddress}`]),
    ...(fromDomain === undefined
      ? []
      : [sql<SqlBool>`substr(${author}, -length(${`@${fromDomain}`})) = ${`@${fromDomain}`}`]),
    ...(isFlagged ? [sql<SqlBool>`flagged = 1`] : []),
    ...(task === undefined ? [] : [hasTask(task)]),
  ];
}

function isFor(routeId: string) {
  return sql<SqlBool>`EXISTS (SELECT 1 FROM "receivedRecipients" AS one
    WHERE one."messageId" = candidates.id AND one."targetId" = ${routeId})`;
}

function hasTask({ kind, state }: NonNullable<ReceivedFilter['task']>) {
  const isOfKind = kind === undefined ? sql`` : sql`AND task.kind = ${kind}`;
  const isInState = state === undefined ? sql`` : sql`AND task.state = ${state}`;
  return sql<SqlBool>`EXISTS (SELECT 1 FROM "receivedTasks" AS task
    WHERE task."messageId" = candidates.id ${isOfKind} ${isInState})`;
}

function recipientsOfMessage() {
  return sql<string>`(SELECT json_group_array(address) FROM (SELECT address FROM "receivedRecipients" AS one
    WHERE one."messageId" = candidates.id GROUP BY address ORDER BY min(position)))`;
}
