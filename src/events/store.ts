/** The event log. An event is recorded in the transaction of the change that it describes. */

import { sql } from 'kysely';
import { wakeAfterCommit } from '../db/commit-wakeups.ts';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../db/expiry.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { listRows } from '../db/rows.ts';
import { constant, type Param, paramsOf, statement } from '../db/statement.ts';
import type { EventRow } from '../db/tables.ts';
import type { WebhookDeliveryRow } from '../db/webhook-tables.ts';
import { isoTime } from '../system/clock.ts';

/** Types of events: those of the specification (section 6), and our additional ones. */
export const EVENT_TYPES = [
  'email.queued',
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.complained',
  'email.opened',
  'email.clicked',
  'email.delivery_delayed',
  'email.suppressed',
  'email.canceled',
  'email.held',
  'email.received',
  'domain.verified',
  'domain.failed',
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'contact.unsubscribed',
  'suppression.added',
  'suppression.removed',
  'broadcast.sent',
  'broadcast.paused',
  'broadcast.failed',
  'approval.requested',
  'approval.approved',
  'approval.declined',
  'approval.expired',
  'approval.withdrawn',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

type NewEvent = Omit<EventRow, 'fannedOut' | 'data' | 'type'> & { type: EventType; data: object };

type EventInput = Omit<EventRow, 'fannedOut'>;

const insert = statement((db, param: Param<EventInput>) =>
  db
    .insertInto('events')
    .values({
      ...paramsOf(param, ['id', 'tenantId', 'mode', 'type', 'emailId', 'data', 'createdAt']),
      // An event whose tenant has no endpoint in its mode skips the fan-out.
      fannedOut: sql`NOT EXISTS (SELECT 1 FROM "webhookEndpoints"
      WHERE "tenantId" = ${param('tenantId')} AND "mode" = ${param('mode')})`,
    })
    .returning('fannedOut'),
);

/**
 * Records an event, as part of the write of its change: the event exists exactly when the change does. The fan-out wakes after the commit
 * when the event has endpoints to go to.
 */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<void> {
  const recorded = await insert.first(tx, { ...event, data: JSON.stringify(event.data) });
  if (recorded?.fannedOut === 0) wakeAfterCommit('events', event.tenantId);
}

/** Returns the events of an email, oldest first. */
export function listEventsOfEmail(tx: Tx, emailId: string): Promise<EventRow[]> {
  return listRows(tx, 'events', { where: { emailId }, orderBy: 'id' });
}

/** The condition is literal, because SQLite uses the partial index `eventsToFanOut` only when it can see it. */
const isNew = sql<boolean>`"fannedOut" = 0`;

export type EventToFanOut = Pick<EventRow, 'id' | 'tenantId' | 'mode' | 'type' | 'emailId'>;

const toFanOut = statement((db, param: Param<{ limit: number }>) =>
  db
    .selectFrom('events')
    .select(['id', 'tenantId', 'mode', 'type', 'emailId'])
    .where(isNew)
    .orderBy('id')
    .limit(constant(param('limit'))),
);

/** Returns up to `limit` events that wait for the fan-out, oldest first. */
export function listEventsToFanOut(tx: Tx, limit: number): Promise<EventToFanOut[]> {
  return toFanOut.all(tx, { limit });
}

const markFannedOutStatement = statement((db, param: Param<{ last: EventRow['id'] }>) =>
  db.updateTable('events').set({ fannedOut: 1 }).where(isNew).where('id', '<=', param('last')),
);

/** Marks all waiting events up to `last`, as part of the write that makes their deliveries. */
export async function markFannedOut(tx: Tx, last: EventRow['id']): Promise<void> {
  await markFannedOutStatement.all(tx, { last });
}

/**
 * True for rows about mail that is still queued, scheduled, deferred, in flight or held. Retention keeps such rows,
 * however old they are.
 */
export const isAboutOpenMail = (messageId: string) => sql<boolean>`EXISTS (
  SELECT 1 FROM recipients WHERE recipients."messageId" = ${sql.ref(messageId)}
    AND recipients.state IN ('ready', 'in_flight', 'deferred', 'held'))`;

/**
 * Deletes the events among the next `EXPIRY_ROWS` of the range, apart from those about open mail and those that
 * webhooks have not seen yet.
 */
export const expireEvents = defineWrite(
  'events.expire',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'events', range);
    const { numDeletedRows } = await tx
      .deleteFrom('events')
      .where(isInSlice)
      .where('fannedOut', '=', 1)
      .where(sql<boolean>`NOT ${isAboutOpenMail('events.emailId')}`)
      .executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);

/** Removes the address and the user agent of the reader from these events of opens and clicks. */
export async function forgetReaders(tx: Tx, ids: readonly EventRow['id'][]): Promise<void> {
  if (ids.length === 0) return;
  const field = (name: string) =>
    sql<string>`CASE type WHEN 'email.opened' THEN ${`$.open.${name}`} ELSE ${`$.click.${name}`} END`;
  await tx
    .updateTable('events')
    .set({ data: sql<string>`json_replace(data, ${field('ip')}, NULL, ${field('userAgent')}, NULL)` })
    .where('id', 'in', ids)
    .where('type', 'in', ['email.opened', 'email.clicked'])
    .execute();
}

/** Events with the emails that they are about. */
function withEmails(db: Tx) {
  return db
    .selectFrom('events')
    .leftJoin('messages', 'messages.id', 'events.emailId')
    .leftJoin('emails', 'emails.id', 'events.emailId')
    .selectAll('events')
    .select(['messages.sender', 'messages.createdAt as acceptedAt', 'emails.subject', 'emails.tags'])
    .select(['emails.rfcMessageId', 'emails.broadcastId', 'emails.templateId']);
}

const byId = statement((db, param: Param<Pick<EventRow, 'id'>>) =>
  withEmails(db).where('events.id', '=', param('id')),
);

const ofDelivery = statement((db, param: Param<Pick<WebhookDeliveryRow, 'id'>>) =>
  withEmails(db).where('events.id', '=', (where) =>
    where.selectFrom('webhookDeliveries').select('eventId').where('id', '=', param('id')),
  ),
);

type WithEmail = NonNullable<Awaited<ReturnType<typeof byId.first>>>;

/**
 * Returns the event with this id, with its whole data, or undefined when there is none. The event of an email stores
 * only its recipient and what happened; the rest of its data is that of the email.
 */
export async function findEvent(tx: Tx, id: EventRow['id']): Promise<EventRow | undefined> {
  return whole(await byId.first(tx, { id }));
}

/** Returns the event of a delivery, with its whole data; undefined when there is no such delivery, or its event has expired. */
export async function findEventOfDelivery(
  tx: Tx,
  id: WebhookDeliveryRow['id'],
): Promise<EventRow | undefined> {
  return whole(await ofDelivery.first(tx, { id }));
}

function whole(found: WithEmail | undefined): EventRow | undefined {
  if (!found) return undefined;
  const { sender, acceptedAt, subject, tags, rfcMessageId, broadcastId, templateId, ...event } = found;
  if (sender === null || acceptedAt === null) return event;
  const { to, ...details } = JSON.parse(event.data) as { to: string };
  const email = {
    emailId: event.emailId,
    to,
    from: sender,
    subject,
    messageId: rfcMessageId === null ? null : `<${rfcMessageId}>`,
    tags: tags === null ? {} : JSON.parse(tags),
    broadcastId,
    templateId,
    createdAt: isoTime(acceptedAt),
  };
  return { ...event, data: JSON.stringify({ ...email, ...details }) };
}
