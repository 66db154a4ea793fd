/** The list of emails (specification 4.1): its filters, as the one query that serves them all from indexes. */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type PageRequest, type Slice } from '../../db/page.ts';
import type { EmailRow, EmailStatus, Mode, RecipientState, Tables } from '../../db/tables.ts';
import type { Tag } from '../request/tags.ts';
import type { RecipientStatus } from '../schemas.ts';
import type { EmailSummary } from '../show.ts';

/** Addresses as they are kept. */
export type EmailFilter = {
  status?: EmailStatus;
  fromAddress?: string;
  fromDomain?: string;
  to?: string;
  /** Has one of them. */
  tags?: readonly Tag[];
  recipientStatus?: RecipientStatus;
};

export type ListEmails = {
  tenantId: EmailRow['tenantId'];
  mode: Mode;
  filter: EmailFilter;
  page: PageRequest;
};

/**
 * Walks, in the order of ids, the index of the filter that leaves fewest, and looks the others up: neither a rare status
 * nor a common tag may cost a walk through the whole history.
 */
export function readEmailSlice(tx: Tx, list: ListEmails, slice: Slice): Promise<EmailSummary[]> {
  const { tenantId, filter } = list;
  const all = tx
    .selectFrom(candidates(tx, list).as('candidates'))
    .innerJoin('emails', 'emails.id', 'candidates.id')
    .innerJoin('messages', 'messages.id', 'candidates.id')
    .select(['emails.id', 'fromHeader', 'toList', 'subject', 'messages.status', 'emails.createdAt']);
  let query = inSlice(all, 'candidates.id', slice);
  if (filter.status !== undefined) query = query.where('messages.status', '=', filter.status);
  if (filter.fromAddress !== undefined) query = query.where('fromAddress', '=', filter.fromAddress);
  if (filter.fromDomain !== undefined) query = query.where('fromDomain', '=', filter.fromDomain);
  if (filter.tags)
    query = query.where(({ exists }) =>
      exists(tagged(tx, list, filter.tags ?? []).where(isOfCandidate('emailTags.emailId'))),
    );
  if (filter.recipientStatus === 'delivered') query = query.where(({ exists }) => exists(delivered(tx)));
  else if (filter.recipientStatus !== undefined)
    query = query.where('candidates.id', 'in', standing(tx, tenantId, filter.recipientStatus));
  return query.execute();
}

type Candidates = SelectQueryBuilder<Tables, keyof Tables, { id: EmailRow['id'] }>;

/** All of the tenant's in this mode that answer to one of the filters. */
function candidates(tx: Tx, list: ListEmails): Candidates {
  const { tenantId, mode, filter } = list;
  if (filter.to !== undefined) return addressed(tx, list, filter.to);
  if (filter.tags) return tagged(tx, list, filter.tags);
  if (filter.status !== undefined) {
    return tx
      .selectFrom('messages')
      .select('messages.id')
      .where('messages.tenantId', '=', tenantId)
      .where('messages.mode', '=', mode)
      .where('messages.status', '=', filter.status)
      .$castTo<{ id: EmailRow['id'] }>();
  }
  let query = tx
    .selectFrom('emails')
    .select('emails.id')
    .where('emails.tenantId', '=', tenantId)
    .where('emails.mode', '=', mode);
  if (filter.fromAddress !== undefined) query = query.where('fromAddress', '=', filter.fromAddress);
  if (filter.fromDomain !== undefined) query = query.where('fromDomain', '=', filter.fromDomain);
  return query;
}

function addressed(tx: Tx, { tenantId, mode }: ListEmails, address: string) {
  return tx
    .selectFrom('emailAddresses')
    .select('emailAddresses.emailId as id')
    .where('emailAddresses.tenantId', '=', tenantId)
    .where('emailAddresses.mode', '=', mode)
    .where('emailAddresses.address', '=', address);
}

/** `tags`: readings of one filter; an email may answer to several of them. */
function tagged(tx: Tx, { tenantId, mode }: ListEmails, tags: readonly Tag[]) {
  return tx
    .selectFrom('emailTags')
    .select('emailTags.emailId as id')
    .$if(tags.length > 1, (query) => query.distinct())
    .where('emailTags.tenantId', '=', tenantId)
    .where('emailTags.mode', '=', mode)
    .where((where) =>
      where.or(tags.map(({ key, value }) => where.and({ 'emailTags.key': key, 'emailTags.value': value }))),
    );
}

/** The row that a nested query is asked about. */
function isOfCandidate(column: 'emailTags.emailId' | 'recipients.messageId'): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} = ${sql.ref('candidates.id')}`;
}

/** Nearly everything is, in the end: there is no index of it, and none is needed. */
function delivered(tx: Tx) {
  return tx
    .selectFrom('recipients')
    .select('recipients.id')
    .where('recipients.state', '=', 'delivered')
    .where(isOfCandidate('recipients.messageId'));
}

/** Literal, because SQLite takes a partial index only when it can see that its condition holds. */
const isWaiting = sql<boolean>`recipients.state IN ('ready', 'deferred')`;
const isInFlight = sql<boolean>`recipients.state = 'in_flight'`;
const isIndexedByState = sql<boolean>`recipients.state IN
  ('deferred', 'held', 'bounced', 'complained', 'suppressed', 'canceled')`;

/** Messages with a recipient that queue/status.ts would show so. */
function standing(tx: Tx, tenantId: EmailRow['tenantId'], status: Exclude<RecipientStatus, 'delivered'>) {
  const recipients = tx
    .selectFrom('recipients')
    .select('recipients.messageId')
    .where('recipients.tenantId', '=', tenantId)
    .$castTo<{ messageId: EmailRow['id'] }>();
  const ready = recipients.where(isWaiting).where('recipients.state', '=', 'ready');
  const inState = (...states: RecipientState[]) =>
    recipients.where(isIndexedByState).where('recipients.state', 'in', states);
  switch (status) {
    case 'queued':
      return ready.where('recipients.attempts', '=', 0);
    case 'sent':
      return recipients.where(isInFlight);
    case 'deferred':
      return inState('deferred', 'held').unionAll(ready.where('recipients.attempts', '>', 0));
    case 'bounced':
    case 'complained':
    case 'suppressed':
    case 'canceled':
      return inState(status);
  }
}
