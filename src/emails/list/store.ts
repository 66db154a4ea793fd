/**
 * The SQL of the list of emails (specification 4.1), which uses an index for every filter. Each filter is a search
 * along an index in the order of ids, or a few searches that are merged. The rarest filter is searched, and the others are
 * checked for each email on the way. A rare combination of filters would search the whole history, so it is read in
 * parts.
 */

import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { EmailRow } from '../../db/email-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type Part, type Slice, splitSlice } from '../../db/page.ts';
import { findColumns } from '../../db/rows.ts';
import type { EmailStatus, MessageRow, Mode, RecipientState, Tables } from '../../db/tables.ts';
import type { ApiKeyRow } from '../../db/tenant-tables.ts';
import type { Tag } from '../request/tags.ts';
import type { RecipientStatus } from '../schemas.ts';
import type { EmailSummary } from '../show.ts';

/** Filters of the list. Addresses have their stored form (`addressKey`). */
export type EmailFilter = {
  status?: EmailStatus;
  fromAddress?: string;
  fromDomain?: string;
  to?: string;
  /** The list contains emails with at least one of these tags. */
  tags?: readonly Tag[];
  recipientStatus?: RecipientStatus;
  /** Message-ID of the header, without its angle brackets. */
  messageId?: string;
  /** Id of the API key that has sent the email. */
  apiKeyId?: string;
};

/**
 * Selects the emails of one tenant and mode. With `domainId` the list holds only mail of this domain, which is all that
 * a limited key sees.
 */
export type Filters = {
  tenantId: EmailRow['tenantId'];
  mode: Mode;
  domainId: MessageRow['domainId'];
  filter: EmailFilter;
};

/**
 * Reads one part of a slice. It examines about `scan` emails when there are several filters, because most of them may
 * match one filter and not the others.
 */
export async function readEmailSlice(
  tx: Tx,
  list: Filters,
  { slice, scan }: { slice: Slice; scan: number },
): Promise<Part<EmailSummary>> {
  const filters = [...(await keyFilter(tx, list)), ...filtersOf(tx, list), ...(await domainFilter(tx, list))];
  const rarest = await chooseRarest(tx, filters, slice);
  const searches = rarest?.searches ?? [everyEmail(tx, list)];
  const mayPassOver = filters.length > 1 || list.domainId !== null;
  const end = mayPassOver ? await findEnd(tx, searches, { slice, scan }) : undefined;
  if (end === undefined)
    return { items: await readFiltered(tx, list, { filters, rarest, searches, slice }), rest: undefined };
  const [part, rest] = splitSlice(slice, end);
  return { items: await readFiltered(tx, list, { filters, rarest, searches, slice: part }), rest };
}

type Filtered = {
  filters: readonly Filter[];
  rarest: Filter | undefined;
  searches: readonly Search[];
  slice: Slice;
};

async function readFiltered(
  tx: Tx,
  { domainId }: Filters,
  { filters, rarest, searches, slice }: Filtered,
): Promise<EmailSummary[]> {
  const others = filters.filter((filter) => filter !== rarest).map(({ holds }) => holds);
  if (domainId !== null) others.push(sql<SqlBool>`messages."domainId" = ${domainId}`);
  const found: EmailSummary[][] = [];
  let rest = slice;
  for (const search of searches) {
    const emails = await readSearch(tx, { search, others, slice: rest });
    found.push(emails);
    rest = within(rest, emails);
  }
  return merge(found, slice);
}

/**
 * Returns the part of the slice that the next search has to examine. When an earlier search filled the slice, later
 * emails cannot be part of the answer, and searching for them might read the whole history.
 */
function within(slice: Slice, emails: readonly EmailSummary[]): Slice {
  const last = emails.length < slice.limit ? undefined : emails.at(-1)?.id;
  if (last === undefined) return slice;
  return slice.direction === 'older' ? { ...slice, from: last } : { ...slice, until: last };
}

/** Rows of one table with the ids of emails. Tenant and mode are filtered already. */
type Search = SelectQueryBuilder<Tables, keyof Tables, { id: EmailRow['id'] }>;

type Filter = {
  /**
   * Searches that together find every matching email. Several of them may find the same email, but none finds it twice.
   */
  searches: readonly Search[];
  /** SQL condition that is true when the email `candidates.id` matches. */
  holds: Expression<SqlBool>;
};

/** Maximum number of rows that are counted to tell a rare filter from a common one. */
const MAX_COUNTED = 1_000;

/** Returns the rarest filter, or undefined when there are no filters. */
async function chooseRarest(tx: Tx, filters: readonly Filter[], slice: Slice): Promise<Filter | undefined> {
  const [first, second] = filters;
  if (!second) return first;
  let best = { filter: first, count: Number.POSITIVE_INFINITY };
  for (const filter of filters) {
    let count = 0;
    for (const search of filter.searches) count += await countSearch(tx, search, slice);
    if (count < best.count) best = { filter, count };
  }
  return best.filter;
}

async function countSearch(tx: Tx, search: Search, slice: Slice): Promise<number> {
  const some = tx.selectFrom(search.as('candidates')).select('candidates.id');
  const { count } = await tx
    .selectFrom(inSlice(some, 'candidates.id', { ...slice, limit: MAX_COUNTED }).as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the first id after `scan` rows of a search, or undefined when no search has that many rows. */
async function findEnd(
  tx: Tx,
  searches: readonly Search[],
  { slice, scan }: { slice: Slice; scan: number },
): Promise<EmailRow['id'] | undefined> {
  const ends: EmailRow['id'][] = [];
  for (const search of searches) {
    const ids = tx.selectFrom(search.as('candidates')).select('candidates.id');
    const end = await inSlice(ids, 'candidates.id', { ...slice, limit: 1 })
      .offset(scan)
      .executeTakeFirst();
    if (end) ends.push(end.id);
  }
  ends.sort();
  return slice.direction === 'older' ? ends.at(-1) : ends[0];
}

type SearchRequest = { search: Search; others: readonly Expression<SqlBool>[]; slice: Slice };

function readSearch(tx: Tx, { search, others, slice }: SearchRequest): Promise<EmailSummary[]> {
  const all = tx
    .selectFrom(search.as('candidates'))
    .innerJoin('emails', 'emails.id', 'candidates.id')
    .innerJoin('messages', 'messages.id', 'candidates.id')
    .select(['emails.id', 'fromHeader', 'toList', 'subject', 'messages.status', 'emails.createdAt']);
  return others.reduce((query, holds) => query.where(holds), inSlice(all, 'candidates.id', slice)).execute();
}

/** Merges the emails of several searches in the order of the slice and removes duplicates. */
function merge(found: readonly EmailSummary[][], { direction, limit }: Slice): EmailSummary[] {
  const [first = [], ...more] = found;
  if (more.length === 0) return first;
  const byId = new Map(found.flat().map((email) => [email.id, email]));
  const ids = [...byId.keys()].sort();
  if (direction === 'older') ids.reverse();
  return ids.slice(0, limit).flatMap((id) => byId.get(id) ?? []);
}

/** Returns the filters. Of equally rare filters, the first one is searched. */
function filtersOf(tx: Tx, list: Filters): Filter[] {
  const { to, tags, recipientStatus, status, fromAddress, fromDomain, messageId } = list.filter;
  return [
    ...(messageId === undefined ? [] : [messageIdFilter(tx, list, messageId)]),
    ...(to === undefined ? [] : [recipientFilter(tx, list, to)]),
    ...(tags === undefined ? [] : [tagFilter(tx, list, tags)]),
    ...(recipientStatus === undefined ? [] : [recipientStatusFilter(tx, list, recipientStatus)]),
    ...(status === undefined ? [] : [statusFilter(tx, list, status)]),
    ...(fromAddress === undefined
      ? []
      : [senderFilter(tx, list, { column: 'fromAddress', value: fromAddress })]),
    ...(fromDomain === undefined
      ? []
      : [senderFilter(tx, list, { column: 'fromDomain', value: fromDomain })]),
  ];
}

function everyEmail(tx: Tx, { tenantId, mode }: Filters) {
  return tx
    .selectFrom('emails')
    .select('emails.id')
    .where('emails.tenantId', '=', tenantId)
    .where('emails.mode', '=', mode) as Search;
}

/**
 * Filters by domain through the sender's domain name, which has an index. The name alone is not enough: a domain that
 * was deleted and added again is another one. Mail of a domain whose row is deleted cannot be found by name.
 */
async function domainFilter(tx: Tx, list: Filters): Promise<Filter[]> {
  if (list.domainId === null) return [];
  const domain = await findColumns(tx, 'domains', { select: ['name'], where: { id: list.domainId } });
  return domain ? [senderFilter(tx, list, { column: 'fromDomain', value: domain.name })] : [];
}

/**
 * Filters by the key that has sent the email, whose index has no tenant and no mode, because those of the key are those of its emails. So the
 * filter finds nothing for the key of another tenant or mode.
 */
async function keyFilter(tx: Tx, { tenantId, mode, filter: { apiKeyId } }: Filters): Promise<Filter[]> {
  if (apiKeyId === undefined) return [];
  const id = apiKeyId as ApiKeyRow['id'];
  const key = await findColumns(tx, 'apiKeys', { select: ['tenantId', 'mode'], where: { id } });
  const isOwn = key?.tenantId === tenantId && key.mode === mode;
  const search = tx.selectFrom('emails').select('emails.id').where('emails.apiKeyId', '=', id) as Search;
  return isOwn
    ? [{ searches: [search], holds: sql<SqlBool>`emails."apiKeyId" = ${id}` }]
    : [{ searches: [], holds: sql<SqlBool>`0` }];
}

type Sender = { column: 'fromAddress' | 'fromDomain'; value: string };

function senderFilter(tx: Tx, list: Filters, { column, value }: Sender): Filter {
  const search = everyEmail(tx, list).where(`emails.${column}`, '=', value);
  return { searches: [search], holds: sql<SqlBool>`${sql.ref(`emails.${column}`)} = ${value}` };
}

/** Begins the Message-IDs that Postrider makes: the id of the email stands before the `@`. */
const OWN_MESSAGE_ID = 'em_';

/** Filters by Message-ID. The condition of the index of others is literal, for the partial index. */
function messageIdFilter(tx: Tx, list: Filters, messageId: string): Filter {
  const [id = ''] = messageId.split('@', 1);
  const search = everyEmail(tx, list).where('emails.rfcMessageId', '=', messageId);
  const isOwn = messageId.startsWith(OWN_MESSAGE_ID);
  const indexed = isOwn
    ? search.where('emails.id', '=', id as EmailRow['id'])
    : search.where(sql<SqlBool>`substr("rfcMessageId", 1, 3) <> 'em_'`);
  return { searches: [indexed], holds: sql<SqlBool>`emails."rfcMessageId" = ${messageId}` };
}

function statusFilter(tx: Tx, list: Filters, status: EmailStatus): Filter {
  return { searches: [withStatus(tx, list, status)], holds: sql<SqlBool>`messages.status = ${status}` };
}

function withStatus(tx: Tx, { tenantId, mode }: Filters, status: EmailStatus): Search {
  return tx
    .selectFrom('messages')
    .select(sql<EmailRow['id']>`messages.id`.as('id'))
    .where('messages.tenantId', '=', tenantId)
    .where('messages.mode', '=', mode)
    .where('messages.status', '=', status) as unknown as Search;
}

function recipientFilter(tx: Tx, { tenantId, mode }: Filters, address: string): Filter {
  const search = tx
    .selectFrom('emailAddresses')
    .select('emailAddresses.emailId as id')
    .where('emailAddresses.tenantId', '=', tenantId)
    .where('emailAddresses.mode', '=', mode)
    .where('emailAddresses.address', '=', address) as Search;
  return {
    searches: [search],
    holds: sql<SqlBool>`EXISTS ${search.where(isOfCandidate('emailAddresses.emailId'))}`,
  };
}

/** Returns the filter by tag. `tags` are the possible meanings of one filter text. */
function tagFilter(tx: Tx, { tenantId, mode }: Filters, tags: readonly Tag[]): Filter {
  const searches = tags.map(
    ({ key, value }) =>
      tx
        .selectFrom('emailTags')
        .select('emailTags.emailId as id')
        .where('emailTags.tenantId', '=', tenantId)
        .where('emailTags.mode', '=', mode)
        .where('emailTags.key', '=', key)
        .where('emailTags.value', '=', value) as Search,
  );
  const holds = searches.map((search) => sql`EXISTS ${search.where(isOfCandidate('emailTags.emailId'))}`);
  return { searches, holds: sql<SqlBool>`(${sql.join(holds, sql` OR `)})` };
}

/** Relates a nested query to the candidate row. */
function isOfCandidate(column: 'emailAddresses.emailId' | 'emailTags.emailId' | 'recipients.messageId') {
  return sql<SqlBool>`${sql.ref(column)} = ${sql.ref('candidates.id')}`;
}

/**
 * SQL condition on the recipient in the row with this alias. States are literal, because SQLite uses a partial index
 * only when it can see that the condition of the index holds.
 */
type StatusCondition = (row: string) => Expression<SqlBool>;

const isUntried: StatusCondition = (row) =>
  sql`${sql.ref(`${row}.state`)} = 'ready' AND ${sql.ref(`${row}.attempts`)} = 0`;
const isPutBack: StatusCondition = (row) =>
  sql`${sql.ref(`${row}.state`)} = 'ready' AND ${sql.ref(`${row}.attempts`)} > 0`;
const isInFlight: StatusCondition = (row) => sql`${sql.ref(`${row}.state`)} = 'in_flight'`;

/** The condition does not use `IN`, because SQLite would then search the index by that list and sort the result. */
function inState(state: RecipientState): StatusCondition {
  return (row) => sql`${sql.ref(`${row}.state`)} NOT IN ('ready', 'in_flight', 'delivered')
    AND ${sql.ref(`${row}.state`)} = ${state}`;
}

/** Returns the conditions of a public recipient status (queue/status.ts). Each condition has an index of its own. */
function conditionsOf(status: Exclude<RecipientStatus, 'delivered'>): StatusCondition[] {
  switch (status) {
    case 'queued':
      return [isUntried];
    case 'sent':
      return [isInFlight];
    case 'deferred':
      return [inState('deferred'), isPutBack];
    case 'held':
    case 'bounced':
    case 'complained':
    case 'suppressed':
    case 'canceled':
      return [inState(status)];
  }
}

/** Returns the filter for emails with at least one recipient of this status. */
function recipientStatusFilter(tx: Tx, list: Filters, status: RecipientStatus): Filter {
  if (status === 'delivered') return deliveredFilter(tx, list);
  const found = conditionsOf(status);
  const holds = found.map(
    (condition) => sql`EXISTS ${recipientsOfCandidate(tx).where(condition('recipients'))}`,
  );
  return {
    searches: found.map((condition) => withRecipient(tx, list, condition)),
    holds: sql<SqlBool>`(${sql.join(holds, sql` OR `)})`,
  };
}

/**
 * Returns the filter for emails with a delivered recipient. Delivered recipients have no index, because their emails
 * are `delivered` or `complained` (queue/status.ts).
 */
function deliveredFilter(tx: Tx, list: Filters): Filter {
  const holds = sql<SqlBool>`EXISTS ${recipientsOfCandidate(tx).where('recipients.state', '=', 'delivered')}`;
  const complained = tx
    .selectFrom(withStatus(tx, list, 'complained').as('candidates'))
    .select('candidates.id')
    .where(holds) as unknown as Search;
  return { searches: [withStatus(tx, list, 'delivered'), complained], holds };
}

/** Returns the search over the first matching recipient of each email, so that each email occurs once. */
function withRecipient(tx: Tx, { tenantId, mode }: Filters, condition: StatusCondition): Search {
  const isSecond = sql<SqlBool>`EXISTS (SELECT 1 FROM recipients AS earlier
    WHERE earlier."messageId" = recipients."messageId" AND earlier.position < recipients.position
      AND ${condition('earlier')})`;
  return tx
    .selectFrom('recipients')
    .select(idOfRecipient(condition).as('id'))
    .where('recipients.tenantId', '=', tenantId)
    .where('recipients.mode', '=', mode)
    .where(condition('recipients'))
    .where(sql<SqlBool>`NOT ${isSecond}`) as unknown as Search;
}

/**
 * Returns the column of the email's id. Recipients in flight are few and not sorted; the unary plus keeps SQLite from
 * reading the whole history in order instead.
 */
function idOfRecipient(condition: StatusCondition) {
  return condition === isInFlight
    ? sql<EmailRow['id']>`+recipients."messageId"`
    : sql<EmailRow['id']>`recipients."messageId"`;
}

function recipientsOfCandidate(tx: Tx) {
  return tx.selectFrom('recipients').select('recipients.id').where(isOfCandidate('recipients.messageId'));
}
