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
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export type NewEvent = Omit<EventRow, 'fannedOut' | 'data' | 'type'> & { type: EventType; data: object };

const insert = statement((db, param: Param<EventRow>) =>
  db.insertInto('events').values({
    id: param('id'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    type: param('type'),
    emailId: param('emailId'),
    data: param('data'),
    createdAt: param('createdAt'),
    fannedOut: 0,
  }),
);

/** Part of a write: the event exists exactly when the change does. */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<void> {
  await insert.all(tx, { ...event, data: JSON.stringify(event.data), fannedOut: 0 });
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

const toFanOut = statement((db, param: Param<{ limit: number }>) =>
  db
    .selectFrom('events')
    .selectAll()
    .where(isNew)
    .orderBy('id')
    .limit(constant(param('limit'))),
);

export function listEventsToFanOut(tx: Tx, limit: number): Promise<EventRow[]> {
  return toFanOut.all(tx, { limit });
}

const markFannedOutStatement = statement((db, param: Param<{ id: EventRow['id'] }>) =>
  db.updateTable('events').set({ fannedOut: 1 }).where('id', '=', param('id')),
);

/** Part of the fan-out's write, with the deliveries it makes. */
export async function markFannedOut(tx: Tx, ids: readonly EventRow['id'][]): Promise<void> {
  for (const id of ids) await markFannedOutStatement.all(tx, { id });
}

export type EventById = { id: EventRow['id'] };
const byId = statement((db, param: Param<EventById>) =>
  db.selectFrom('events').selectAll().where('id', '=', param('id')),
);

export function findEvent(tx: Tx, id: EventRow['id']): Promise<EventRow | undefined> {
  return byId.first(tx, { id });
}
