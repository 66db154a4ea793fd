/**
 * The tables of the spool: messages and recipients. All their SQL is here, and nothing else writes them. Every change of a
 * recipient's state goes through `changeRecipients` (state/change.ts).
 */

import { sql } from 'kysely';
import { MOVED_ROWS, moveSlice, type SetBack } from '../db/due-times.ts';
import type { ContentRow } from '../db/email-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { insertRow, listRows, updateRows } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { DomainRow, MessageRow, RecipientRow } from '../db/tables.ts';
import { newId } from '../system/ids.ts';
import { deleteUnusedContent } from './contents/store.ts';
import { queueKeyOf } from './queue-key.ts';

export type NewRecipient = Pick<RecipientRow, 'field' | 'address' | 'domain'> & {
  /** The reason why the recipient is not attempted; null when it is. */
  suppressed: string | null;
  /** Parameters about notifications (mail/smtp/dsn-parameters.ts); by default none. */
  dsn?: string | null;
  /**
   * Tenant in whose delivery queue the recipient waits, and whose share of the connections its mail uses; by default that of the message.
   * Mail that the installation sends because of a tenant's mailbox is not the tenant's, but must delay nobody else's.
   */
  scheduledFor?: string | undefined;
};

/**
 * Stores a message with a row for each recipient, due at the message's date, as part of the write that accepts the
 * mail.
 */
export async function enqueue(
  tx: Tx,
  message: MessageRow,
  recipients: readonly NewRecipient[],
): Promise<void> {
  await insertRow(tx, 'messages', message);
  const { tenantId, mode, kind } = message;
  for (const [position, recipient] of recipients.entries()) {
    const { field, address, domain, suppressed, dsn = null, scheduledFor = tenantId } = recipient;
    await insertRow(tx, 'recipients', {
      id: newId('rcp', message.createdAt),
      messageId: message.id,
      tenantId,
      mode,
      field,
      position,
      address,
      domain,
      queue: queueKeyOf({ mode, kind, tenantId: scheduledFor }, domain),
      state: suppressed === null ? 'ready' : 'suppressed',
      dueAt: suppressed === null ? message.datedAt : null,
      attempts: 0,
      interruptedAttempts: 0,
      diagnostic: suppressed,
      lastEventAt: message.createdAt,
      dsn,
    });
  }
}

export type SpooledMessage = MessageRow & {
  /** The sender domain's own host name for return paths, if it has one now. */
  returnPathHost: DomainRow['returnPathHost'];
};

const messageById = statement((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('messages')
    .leftJoin('domains', 'domains.id', 'messages.domainId')
    .selectAll('messages')
    .select('domains.returnPathHost')
    .where('messages.id', '=', constant(param('id'))),
);

/** Returns the message, or undefined when it does not exist. */
export function findMessage(tx: Tx, id: string): Promise<SpooledMessage | undefined> {
  return messageById.first(tx, { id });
}

/** Returns all recipients of a message, in the order of the request. */
export function listRecipients(tx: Tx, messageId: string): Promise<RecipientRow[]> {
  return listRows(tx, 'recipients', { where: { messageId }, orderBy: 'position' });
}

/**
 * The condition is literal, because SQLite uses a partial index (`recipientsDue`) only when it can see that the
 * condition of the index holds.
 */
export const isWaiting = sql<boolean>`state IN ('ready', 'deferred')`;

export type DueRow = { id: RecipientRow['id']; dueAt: number };
type LaterDue = DueRow & { until: number };

const laterDue = statement((db, param: Param<LaterDue>) =>
  db
    .selectFrom('recipients')
    .innerJoin('messages', 'messages.id', 'recipients.messageId')
    .select(['recipients.id', 'dueAt', 'datedAt', 'messages.createdAt'])
    .where(isWaiting)
    .where('dueAt', '<=', constant(param('until')))
    .where(sql<boolean>`(dueAt, recipients.id) > (${constant(param('dueAt'))}, ${constant(param('id'))})`)
    .orderBy('dueAt')
    .orderBy('recipients.id')
    .limit(MOVED_ROWS),
);

/**
 * Moves due times after `after` by the set-back. Scheduled mail keeps its time, which the caller chose. Returns the
 * last row of a full slice.
 */
export const moveDueRecipients = defineWrite(
  'queue.moveDue',
  async (
    tx,
    { after, until, ...setBack }: SetBack & { after: DueRow; until: number },
  ): Promise<DueRow | undefined> => {
    const rows = await laterDue.all(tx, { ...after, until });
    const last = await moveSlice(rows, setBack, async ({ id, datedAt, createdAt, ...before }, dueAt) => {
      const isScheduled = before.dueAt === datedAt && datedAt !== createdAt;
      if (!isScheduled) await updateRows(tx, 'recipients', { set: { dueAt }, where: { id } });
    });
    return last && { id: last.id, dueAt: last.dueAt };
  },
);

/** The columns that a change of a recipient's state may touch. */
type RecipientPatch = Partial<
  Pick<
    RecipientRow,
    | ('state' | 'dueAt' | 'attempts' | 'interruptedAttempts' | 'runId' | 'delayNoticeAt' | 'smtpCode')
    | ('enhancedCode' | 'diagnostic' | 'mx' | 'tls' | 'lastEventAt' | 'dsn' | 'class' | 'advice' | 'queue')
    | 'holdReason'
  >
>;

/** Stores a change of a recipient's state, and returns the row. Only `changeRecipients` (state/change.ts) calls it. */
export async function updateRecipient(
  tx: Tx,
  recipient: RecipientRow,
  patch: RecipientPatch,
): Promise<RecipientRow> {
  const set = changesOf(recipient, patch);
  if (hasEntries(set)) await updateRows(tx, 'recipients', { set, where: { id: recipient.id } });
  return { ...recipient, ...patch };
}

type MessagePatch = Pick<MessageRow, 'status' | 'lastEventAt' | 'signature'>;

/** Stores the columns of a message that follow from its recipients. Only `changeRecipients` (state/change.ts) calls it. */
export async function updateMessage(
  tx: Tx,
  message: SpooledMessage,
  patch: MessagePatch,
): Promise<SpooledMessage> {
  const set = changesOf<MessagePatch>(message, patch);
  if (hasEntries(set)) await updateRows(tx, 'messages', { set, where: { id: message.id } });
  return { ...message, ...patch };
}

/** Returns the values that differ from those of the row. SQLite would write every index of a column that is set. */
function changesOf<Row>(row: Row, patch: Partial<Row>): Partial<Row> {
  const changes: Partial<Row> = {};
  for (const name in patch) if (patch[name] !== row[name]) changes[name] = patch[name];
  return changes;
}

function hasEntries(values: object): boolean {
  return Object.keys(values).length > 0;
}

/** Gives the message another date and time of expiry, in Unix milliseconds. The caller moves the recipients. */
export async function redateMessage(
  tx: Tx,
  date: Pick<MessageRow, 'id' | 'datedAt' | 'expiresAt'>,
): Promise<void> {
  await updateRows(tx, 'messages', {
    set: { datedAt: date.datedAt, expiresAt: date.expiresAt },
    where: { id: date.id },
  });
}

/**
 * Returns the recipients that an earlier start of the daemon left in flight, or whose lease has expired in this one.
 * `elapsed` is the time on the monotonic clock, in milliseconds, since the leases of this start use it.
 */
export function listAbandoned(tx: Tx, runId: string, elapsed: number): Promise<RecipientRow[]> {
  return tx
    .selectFrom('recipients')
    .selectAll()
    .where('state', '=', 'in_flight')
    .where((where) => where.or([where('runId', '!=', runId), where('dueAt', '<=', elapsed)]))
    .execute();
}

/** Deletes the texts of a message as part of a write. Texts that another message shares stay for it. */
export async function dropContent(
  tx: Tx,
  { messageId, contentId }: { messageId: string; contentId: ContentRow['id'] },
): Promise<void> {
  await updateRows(tx, 'messages', {
    set: { contentId: null, fields: null, mergeValues: null, signature: null },
    where: { id: messageId },
  });
  await deleteUnusedContent(tx, contentId);
}

/** Deletes messages and their recipients as part of a write. Their attempts and events expire by themselves. */
export async function deleteMessages(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom('recipients').where('messageId', 'in', ids).execute();
  await tx.deleteFrom('messages').where('id', 'in', ids).execute();
}
