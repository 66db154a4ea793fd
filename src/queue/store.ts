/**
 * The tables of the spool: messages and recipients. All their SQL is here; every change of a recipient's state goes
 * through `changeRecipient`, which keeps the email's status and the event log consistent (decisions.md 19).
 */
import { sql } from 'kysely';
import { MOVED_ROWS, movedBack, type SetBack } from '../db/due-times.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { DomainRow, EmailRow, EmailStatus, MessageRow, RecipientRow } from '../db/tables.ts';
import { type EventType, recordEvent } from '../events/store.ts';
import { isoTime } from '../system/clock.ts';
import { newId } from '../system/ids.ts';
import { queueKeyOf } from './delivery-queue.ts';
import { aggregateStatus } from './status.ts';

const insertMessage = statement((db, param: Param<MessageRow>) =>
  db.insertInto('messages').values({
    id: param('id'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    kind: param('kind'),
    status: param('status'),
    sender: param('sender'),
    returnToken: param('returnToken'),
    domainId: param('domainId'),
    blobId: param('blobId'),
    headerBytes: param('headerBytes'),
    bodyHash: param('bodyHash'),
    datedAt: param('datedAt'),
    signature: param('signature'),
    createdAt: param('createdAt'),
    expiresAt: param('expiresAt'),
    lastEventAt: param('lastEventAt'),
  }),
);

const insertRecipient = statement((db, param: Param<RecipientRow>) =>
  db.insertInto('recipients').values({
    id: param('id'),
    messageId: param('messageId'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    field: param('field'),
    position: param('position'),
    address: param('address'),
    domain: param('domain'),
    queue: param('queue'),
    state: param('state'),
    dueAt: param('dueAt'),
    attempts: param('attempts'),
    interruptedAttempts: param('interruptedAttempts'),
    runId: param('runId'),
    delayNoticeAt: param('delayNoticeAt'),
    smtpCode: param('smtpCode'),
    enhancedCode: param('enhancedCode'),
    diagnostic: param('diagnostic'),
    mx: param('mx'),
    tls: param('tls'),
    lastEventAt: param('lastEventAt'),
  }),
);

/** Diagnostic that the API shows for a suppressed recipient. */
export const SUPPRESSED = 'The address is on the suppression list';

export type NewRecipient = Pick<RecipientRow, 'field' | 'address' | 'domain'> & {
  /** The reason why the recipient is not attempted; null when it is. */
  suppressed: string | null;
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
  await insertMessage.all(tx, message);
  for (const [position, { field, address, domain, suppressed }] of recipients.entries()) {
    await insertRecipient.all(tx, {
      field,
      address,
      domain,
      id: newId('rcp', message.createdAt),
      messageId: message.id,
      tenantId: message.tenantId,
      mode: message.mode,
      position,
      queue: queueKeyOf(message, domain),
      state: suppressed === null ? 'ready' : 'suppressed',
      dueAt: suppressed === null ? message.datedAt : null,
      attempts: 0,
      interruptedAttempts: 0,
      runId: null,
      delayNoticeAt: null,
      smtpCode: null,
      enhancedCode: null,
      diagnostic: suppressed,
      mx: null,
      tls: null,
      lastEventAt: message.createdAt,
    });
  }
}

/** A message with the fields that its events show. */
export type EventMessage = MessageRow & {
  subject: string | null;
  rfcMessageId: string | null;
  /** Tags as a JSON object; null when there are none. */
  tags: string | null;
  broadcastId: EmailRow['broadcastId'];
  templateId: EmailRow['templateId'];
};

export type SpooledMessage = EventMessage & {
  /** The sender domain's own host name for return paths, if it has one now. */
  returnPathHost: DomainRow['returnPathHost'];
};

const messageById = statement((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('messages')
    .leftJoin('emails', 'emails.id', 'messages.id')
    .leftJoin('domains', 'domains.id', 'messages.domainId')
    .selectAll('messages')
    .select(['emails.subject', 'emails.rfcMessageId', 'emails.tags'])
    .select(['emails.broadcastId', 'emails.templateId', 'domains.returnPathHost'])
    .where('messages.id', '=', constant(param('id'))),
);

/** Returns the message with the fields of its events, or undefined when it does not exist. */
export function findMessage(tx: Tx, id: string): Promise<SpooledMessage | undefined> {
  return messageById.first(tx, { id });
}

/**
 * Returns a message that must exist.
 * @throws Error when it does not exist
 */
export async function getMessage(tx: Tx, id: string): Promise<SpooledMessage> {
  const row = await findMessage(tx, id);
  if (!row) throw new Error(`message ${id} does not exist`);
  return row;
}

const recipientsOfMessage = statement((db, param: Param<{ messageId: string }>) =>
  db
    .selectFrom('recipients')
    .selectAll()
    .where('messageId', '=', constant(param('messageId')))
    .orderBy('position'),
);

/** Returns all recipients of a message, in the order of the request. */
export function listRecipients(tx: Tx, messageId: string): Promise<RecipientRow[]> {
  return recipientsOfMessage.all(tx, { messageId });
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

const setDueAt = statement((db, param: Param<DueRow>) =>
  db
    .updateTable('recipients')
    .set({ dueAt: param('dueAt') })
    .where('id', '=', param('id')),
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
    for (const { id, dueAt, datedAt, createdAt } of rows) {
      const isScheduled = dueAt === datedAt && datedAt !== createdAt;
      if (dueAt !== null && !isScheduled) await setDueAt.all(tx, { id, dueAt: movedBack(dueAt, setBack) });
    }
    const last = rows[MOVED_ROWS - 1];
    return last && last.dueAt !== null ? { id: last.id, dueAt: last.dueAt } : undefined;
  },
);

type RecipientPatch = Pick<
  RecipientRow,
  | 'id'
  | 'state'
  | 'dueAt'
  | 'attempts'
  | 'interruptedAttempts'
  | 'runId'
  | 'delayNoticeAt'
  | 'smtpCode'
  | 'enhancedCode'
  | 'diagnostic'
  | 'mx'
  | 'tls'
  | 'lastEventAt'
>;

const updateRecipient = statement((db, param: Param<RecipientPatch>) =>
  db
    .updateTable('recipients')
    .set({
      state: param('state'),
      dueAt: param('dueAt'),
      attempts: param('attempts'),
      interruptedAttempts: param('interruptedAttempts'),
      runId: param('runId'),
      delayNoticeAt: param('delayNoticeAt'),
      smtpCode: param('smtpCode'),
      enhancedCode: param('enhancedCode'),
      diagnostic: param('diagnostic'),
      mx: param('mx'),
      tls: param('tls'),
      lastEventAt: param('lastEventAt'),
    })
    .where('id', '=', param('id')),
);

export type RecipientEvent = { type: EventType; details: object };

/**
 * Changes the state of a recipient: its row, its event if there is one, and the time of the message's last event.
 * Every change of a recipient goes through this function. The times of a message's events strictly increase, so that
 * their order is the order of what happened. The caller calls `refreshStatus` after the last change.
 */
export async function changeRecipient(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  patch: Partial<RecipientPatch>,
  options: { now: number; event?: RecipientEvent },
): Promise<void> {
  Object.assign(recipient, patch);
  if (options.event) {
    const at = Math.max(options.now, message.lastEventAt + 1);
    message.lastEventAt = at;
    recipient.lastEventAt = at;
    await recordRecipientEvent(tx, message, recipient.address, options.event, at);
  }
  await updateRecipient.all(tx, recipient);
}

/** Records an email event. Its data follows specification 6, with the additions of api.md 1.8. */
export async function recordRecipientEvent(
  tx: Tx,
  message: EventMessage,
  to: string,
  event: RecipientEvent,
  at: number,
): Promise<void> {
  await recordEvent(tx, {
    id: newId('evt', at),
    tenantId: message.tenantId,
    mode: message.mode,
    type: event.type,
    emailId: message.id,
    createdAt: at,
    data: {
      emailId: message.id,
      to,
      from: message.sender,
      subject: message.subject,
      messageId: message.rfcMessageId === null ? null : `<${message.rfcMessageId}>`,
      tags: message.tags === null ? {} : JSON.parse(message.tags),
      broadcastId: message.broadcastId,
      templateId: message.templateId,
      createdAt: isoTime(message.createdAt),
      ...event.details,
    },
  });
}

const updateMessage = statement(
  (db, param: Param<{ id: string; status: EmailStatus; lastEventAt: number; signature: string | null }>) =>
    db
      .updateTable('messages')
      .set({ status: param('status'), lastEventAt: param('lastEventAt'), signature: param('signature') })
      .where('id', '=', param('id')),
);

/** Stores the message with the status that follows from all of its recipients (api.md 1.3). */
export async function refreshStatus(
  tx: Tx,
  message: SpooledMessage,
  recipients: readonly RecipientRow[],
): Promise<void> {
  message.status = aggregateStatus(recipients);
  await updateMessage.all(tx, message);
}

const moveMessage = statement((db, param: Param<Pick<MessageRow, 'id' | 'datedAt' | 'expiresAt'>>) =>
  db
    .updateTable('messages')
    .set({ datedAt: param('datedAt'), expiresAt: param('expiresAt') })
    .where('id', '=', param('id')),
);

/**
 * Gives another date to a message without any attempt. The caller moves the recipients. Times are Unix milliseconds.
 */
export async function redateMessage(
  tx: Tx,
  date: Pick<MessageRow, 'id' | 'datedAt' | 'expiresAt'>,
): Promise<void> {
  await moveMessage.all(tx, date);
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

/** Returns the recipients that this start of the daemon has claimed and not settled. */
export function listInFlight(tx: Tx, runId: string): Promise<Pick<RecipientRow, 'id' | 'messageId'>[]> {
  return tx
    .selectFrom('recipients')
    .select(['id', 'messageId'])
    .where('state', '=', 'in_flight')
    .where('runId', '=', runId)
    .execute();
}

/** Deletes messages and their recipients as part of a write. Their attempts and events expire by themselves. */
export async function deleteMessages(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom('recipients').where('messageId', 'in', ids).execute();
  await tx.deleteFrom('messages').where('id', 'in', ids).execute();
}
