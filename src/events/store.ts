/** The event log: appended in the transaction of the change it tells of (architecture.md idea 5). */
import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { EventRow } from '../db/tables.ts';

/** Specification 6, and the additive ones of api.md 1.3. */
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
  'domain.verified',
  'domain.failed',
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'contact.unsubscribed',
  'suppression.added',
  'suppression.removed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export type NewEvent = Omit<EventRow, 'fannedOut' | 'data' | 'type'> & { type: EventType; data: object };

type EventInput = Omit<EventRow, 'fannedOut'>;

const insert = statement((db, param: Param<EventInput>) =>
  db.insertInto('events').values({
    id: param('id'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    type: param('type'),
    emailId: param('emailId'),
    data: param('data'),
    createdAt: param('createdAt'),
    // What no endpoint of its tenant and mode can have asked for never waits for the fan-out.
    fannedOut: sql`NOT EXISTS (SELECT 1 FROM "webhookEndpoints"
      WHERE "tenantId" = ${param('tenantId')} AND "mode" = ${param('mode')})`,
  }),
);

/** Part of a write: the event exists exactly when the change does. */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<void> {
  await insert.all(tx, { ...event, data: JSON.stringify(event.data) });
}

const byEmail = statement((db, param: Param<{ emailId: string }>) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('emailId', '=', constant(param('emailId')))
    .orderBy('id'),
);

export function listEventsOfEmail(tx: Tx, emailId: string): Promise<EventRow[]> {
  return byEmail.all(tx, { emailId });
}

/** Literal, for the partial index `eventsToFanOut`. */
const isNew = sql<boolean>`"fannedOut" = 0`;

export type EventToFanOut = Pick<EventRow, 'id' | 'tenantId' | 'mode' | 'type'>;

const toFanOut = statement((db, param: Param<{ limit: number }>) =>
  db
    .selectFrom('events')
    .select(['id', 'tenantId', 'mode', 'type'])
    .where(isNew)
    .orderBy('id')
    .limit(constant(param('limit'))),
);

/** The oldest first. */
export function listEventsToFanOut(tx: Tx, limit: number): Promise<EventToFanOut[]> {
  return toFanOut.all(tx, { limit });
}

const markFannedOutStatement = statement((db, param: Param<{ last: EventRow['id'] }>) =>
  db.updateTable('events').set({ fannedOut: 1 }).where(isNew).where('id', '<=', param('last')),
);

/** All up to this one. Part of the fan-out's write, which has seen them and makes their deliveries. */
export async function markFannedOut(tx: Tx, last: EventRow['id']): Promise<void> {
  await markFannedOutStatement.all(tx, { last });
}

export type EventById = { id: EventRow['id'] };
const byId = statement((db, param: Param<EventById>) =>
  db.selectFrom('events').selectAll().where('id', '=', param('id')),
);

export function findEvent(tx: Tx, id: EventRow['id']): Promise<EventRow | undefined> {
  return byId.first(tx, { id });
}
