/**
 * Positions in the list of recipients that wait, are held or are being sent to. The list consists of segments, each of which is a range of an
 * index in its order, so that a page begins behind a position however much mail is before it.
 */
import { type RawBuilder, sql } from 'kysely';
import type { RecipientRow } from '../../db/tables.ts';
import { invalid } from '../../system/errors.ts';

/** The columns in whose order the rows of a segment are, before their row number. `waiting` and `held` are of one delivery queue. */
const ORDERS = {
  inFlight: ['runId', 'dueAt'],
  due: ['dueAt', 'queue'],
  allHeld: ['queue', 'messageId'],
  waiting: ['dueAt', 'state'],
  held: ['messageId'],
} as const satisfies Record<string, readonly (keyof RecipientRow)[]>;

type SegmentName = keyof typeof ORDERS;
/** A segment; `queue` is empty when it is of all delivery queues. */
export type Segment = { name: SegmentName; queue: string };

type KeyValue = string | number | null;
/** A place in a segment: behind the row with this key, or at the beginning without one. */
export type Position = Segment & { key?: readonly KeyValue[] };

export type ListedRow = RecipientRow & { row: number };

/** The conditions are literal, for the partial indexes. */
const CONDITIONS: Record<SegmentName, RawBuilder<unknown>> = {
  inFlight: sql`state = 'in_flight'`,
  due: sql`state IN ('ready', 'deferred')`,
  allHeld: sql`state = 'held'`,
  waiting: sql`state IN ('ready', 'deferred')`,
  held: sql`state = 'held'`,
};

/** Conditions of the first page. Rows without a time are not due; a second bound beside that of a position could make SQLite begin there. */
const BEGINNINGS: Record<SegmentName, RawBuilder<unknown>[]> = {
  inFlight: [],
  due: [sql`"dueAt" > 0`],
  allHeld: [],
  waiting: [],
  held: [],
};

/** Returns the end of a query for the rows behind a position, in their order. */
export function rowsBehind({ name, queue, key }: Position): RawBuilder<unknown> {
  const conditions = [
    CONDITIONS[name],
    ...(queue === '' ? [] : [sql`queue = ${queue}`]),
    ...(key ? [isBehind(name, key)] : BEGINNINGS[name]),
  ];
  const order = columnsOf(name).map((column) => sql.ref(column));
  return sql`FROM recipients WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${sql.join(order)}`;
}

function columnsOf(name: SegmentName): readonly string[] {
  return [...ORDERS[name], 'rowid'];
}

/** Rows without a time, such as those of a paused broadcast, come first in the index. */
function isBehind(name: SegmentName, key: readonly KeyValue[]): RawBuilder<unknown> {
  const [first, ...rest] = columnsOf(name).map((column) => sql.ref(column));
  const [firstValue, ...values] = key.map((value) => sql`${value}`);
  if (key[0] === null) return sql`(${first} IS NOT NULL OR (${sql.join(rest)}) > (${sql.join(values)}))`;
  return sql`(${sql.join([first, ...rest])}) > (${sql.join([firstValue, ...values])})`;
}

/** Returns the position behind a row of a segment. */
export function positionOf({ name, queue }: Segment, row: ListedRow): Position {
  return { name, queue, key: [...ORDERS[name].map((column) => row[column]), row.row] };
}

/** Returns a position as a text for the next question. */
export function cursorOf({ name, queue, key }: Position): string {
  return Buffer.from(JSON.stringify([name, queue, ...(key ?? [])])).toString('base64url');
}

/**
 * Returns the position that a cursor names.
 * @throws AppError validation_error
 */
export function readCursor(cursor: string): Position {
  const [name, queue, ...key] = parse(cursor);
  if (typeof name !== 'string' || typeof queue !== 'string' || !Object.hasOwn(ORDERS, name))
    throw malformed();
  const isOfQueue = name === 'waiting' || name === 'held';
  if (isOfQueue !== (queue !== '')) throw malformed();
  const segment = { name: name as SegmentName, queue };
  if (key.length === 0) return segment;
  if (key.length !== columnsOf(segment.name).length || !key.every(isKeyValue)) throw malformed();
  return { ...segment, key };
}

function parse(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    throw malformed();
  }
}

function isKeyValue(value: unknown): value is KeyValue {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function malformed() {
  return invalid('after', '`after` must be the `next` of another page');
}
