/**
 * The tables of the spool: messages and recipients. All their SQL is here; every change of a recipient's state goes
 * through `changeRecipients`, which keeps the email's status and the event log consistent.
 */
import { sql } from 'kysely';
import { storeTally } from '../counts/store.ts';
import { Tally } from '../counts/tally.ts';
import type { ContentRow } from '../db/content-tables.ts';
import { MOVED_ROWS, movedBack, type SetBack } from '../db/due-times.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { DomainRow, EmailStatus, MessageRow, RecipientRow } from '../db/tables.ts';
import { recordEvent } from '../events/store.ts';
import { recordOutcome } from '../ledger/store.ts';
import { newId } from '../system/ids.ts';
import { deleteUnusedContent } from './contents/store.ts';
import { queueKeyOf } from './dispatch/delivery-queue.ts';
import type { RecipientEvent } from './state/recipient-event.ts';
import { effectOf, type Transition } from './state/transition.ts';
import { aggregateStatus } from './status.ts';

const insertMessage = statement((db, param: Param<MessageRow>) =>
  db.insertInto('messages').values({
    id: param('id'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    kind: param('kind'),
    topicId: param('topicId'),
    status: param('status'),
    sender: param('sender'),
    domainId: param('domainId'),
    blobId: param('blobId'),
    headerBytes: param('headerBytes'),
    bodyHash: param('bodyHash'),
    datedAt: param('datedAt'),
    signature: param('signature'),
    createdAt: param('createdAt'),
    expiresAt: param('expiresAt'),
    lastEventAt: param('lastEventAt'),
    contentId: param('contentId'),
    composer: param('composer'),
    fields: param('fields'),
    mergeValues: param('mergeValues'),
    broadcastId: param('broadcastId'),
    contactId: param('contactId'),
    complaintHost: param('complaintHost'),
    returnPath: param('returnPath'),
    requireTls: param('requireTls'),
    traceFields: param('traceFields'),
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

const updateMessage = statement(
  (db, param: Param<{ id: string; status: EmailStatus; lastEventAt: number; signature: string | null }>) =>
    db
      .updateTable('messages')
      .set({ status: param('status'), lastEventAt: param('lastEventAt'), signature: param('signature') })
      .where('id', '=', param('id')),
);

/** A message as a write has read it, with the recipients that the write may change. */
export type Mail = {
  message: SpooledMessage;
  recipients: RecipientRow[];
  /** The states of all other recipients of the message. */
  others: readonly OtherRecipients[];
};

/** Other recipients that share a state. `attempts` is the largest number of attempts among them. */
type OtherRecipients = Pick<RecipientRow, 'state' | 'attempts'>;

/** A change of one recipient of the mail. The recipient is an element of the mail's own list. */
export type Change = { recipient: RecipientRow; transition: Transition };

/**
 * Returns a message that must exist, with all of its recipients.
 * @throws Error when it does not exist
 */
export async function getMail(tx: Tx, messageId: string): Promise<Mail> {
  const message = await findMessage(tx, messageId);
  if (!message) throw new Error(`message ${messageId} does not exist`);
  return { message, recipients: await listRecipients(tx, messageId), others: [] };
}

/**
 * Changes recipients of one message, as part of a write: the rows of those recipients, their events, and once the
 * message with the status that follows from all recipients. Every change of a recipient's state goes through this
 * function. The times of a message's events strictly increase, so that their order is the order of what happened.
 */
export async function changeRecipients(
  tx: Tx,
  { message, recipients, others }: Mail,
  { now, changes }: { now: number; changes: readonly Change[] },
): Promise<void> {
  const { expiresAt } = message;
  const tally = new Tally();
  for (const { recipient, transition } of changes) {
    const { patch, events } = effectOf(transition, { recipient, expiresAt, now });
    const { state, attempts } = recipient;
    Object.assign(recipient, patch);
    for (const event of events) {
      const at = Math.max(now, message.lastEventAt + 1);
      message.lastEventAt = at;
      recipient.lastEventAt = at;
      await recordRecipientEvent(tx, message, { to: recipient.address, event, at, tally });
    }
    await updateRecipient.all(tx, recipient);
    if (message.broadcastId !== null)
      await recordOutcome(tx, message, ledgerChange({ state, attempts }, { recipient, transition, now }));
  }
  message.status = aggregateStatus([...recipients, ...others]);
  await updateMessage.all(tx, message);
  await storeTally(tx, tally);
}

/** Returns what the ledger of a broadcast follows of a change. `before` is the recipient as it was. */
function ledgerChange(
  before: Pick<RecipientRow, 'state' | 'attempts'>,
  { recipient: after, transition, now }: Change & { now: number },
): Parameters<typeof recordOutcome>[2] {
  const { cause } = transition;
  return {
    now,
    before,
    after,
    diagnostic: after.diagnostic,
    exclusion: cause === 'suppressed' ? transition : undefined,
    hasBouncedPermanently:
      (cause === 'bounced' || cause === 'bounced-later') && transition.bounce === 'permanent',
  };
}

/**
 * Records an email event, and counts it in the tally, which the caller stores in the same write. The data of the event is
 * completed from the email when it is read (`findEvent` in events/store.ts).
 */
export async function recordRecipientEvent(
  tx: Tx,
  message: MessageRow,
  { to, event, at, tally }: { to: string; event: RecipientEvent; at: number; tally: Tally },
): Promise<void> {
  tally.count(message, { to, at, counters: event.counters });
  await recordEvent(tx, {
    id: newId('evt', at),
    tenantId: message.tenantId,
    mode: message.mode,
    type: event.type,
    emailId: message.id,
    createdAt: at,
    data: { to, ...event.details },
  });
}

const moveMessage = statement((db, param: Param<Pick<MessageRow, 'id' | 'datedAt' | 'expiresAt'>>) =>
  db
    .updateTable('messages')
    .set({ datedAt: param('datedAt'), expiresAt: param('expiresAt') })
    .where('id', '=', param('id')),
);

/** Gives the message another date and time of expiry, in Unix milliseconds. The caller moves the recipients. */
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

const forgetContent = statement((db, param: Param<Pick<MessageRow, 'id'>>) =>
  db
    .updateTable('messages')
    .set({ contentId: null, fields: null, mergeValues: null, signature: null })
    .where('id', '=', param('id')),
);

/** Deletes the texts of a message as part of a write. Texts that another message shares stay for it. */
export async function dropContent(
  tx: Tx,
  { messageId, contentId }: { messageId: string; contentId: ContentRow['id'] },
): Promise<void> {
  await forgetContent.all(tx, { id: messageId });
  await deleteUnusedContent(tx, contentId);
}

/** Deletes messages and their recipients as part of a write. Their attempts and events expire by themselves. */
export async function deleteMessages(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom('recipients').where('messageId', 'in', ids).execute();
  await tx.deleteFrom('messages').where('id', 'in', ids).execute();
}
