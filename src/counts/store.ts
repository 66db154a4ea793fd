/**
 * Stores the counters behind `GET /v1/metrics`. All SQL of this table is here, and nothing else writes it. A counter changes
 * in the write that records its event, so that counters and events agree at every moment.
 */
import { type RawBuilder, sql } from 'kysely';
import { sharedByWrites } from '../db/end-of-writes.ts';
import type { ExpirySlice } from '../db/expiry.ts';
import type { ContactRow } from '../db/marketing-tables.ts';
import { defineRead, defineWrite, type Tx } from '../db/operation.ts';
import { constant, type Param, paramsOf, statement } from '../db/statement.ts';
import type { CountRow } from '../db/tracking-tables.ts';
import { DAY_MS } from '../system/clock.ts';
import { COUNTERS, type Counter, HOUR_MS, type Increments, Tally } from './tally.ts';

const KEY = [
  ...(['tenantId', 'mode', 'span', 'start', 'kind', 'domainId', 'broadcastId', 'provider'] as const),
] satisfies readonly (keyof CountRow)[];

type Addition = Omit<Increments, 'hour' | 'by'> & { hourStart: number; dayStart: number; by: number };

/** Returns the statement that adds to one counter, of the hour and of the day. */
function additionTo(counter: Counter) {
  return statement((db, param: Param<Addition>) => {
    const row = {
      ...paramsOf(param, ['tenantId', 'mode', 'kind', 'domainId', 'broadcastId', 'provider']),
      [counter]: param('by'),
    };
    return db
      .insertInto('counts')
      .values([
        { ...row, span: 'hour', start: param('hourStart') } as CountRow,
        { ...row, span: 'day', start: param('dayStart') } as CountRow,
      ])
      .onConflict((conflict) =>
        conflict
          .columns(KEY)
          .doUpdateSet({ [counter]: sql`${sql.ref(counter)} + ${sql.ref(`excluded.${counter}`)}` }),
      );
  });
}

const additions = Object.fromEntries(COUNTERS.map((counter) => [counter, additionTo(counter)])) as Record<
  Counter,
  ReturnType<typeof additionTo>
>;

/** All writes of a transaction add to one tally, so that each counter changes once. */
const tallyOf = sharedByWrites({ create: () => new Tally(), store: storeNow });

/** Stores what was counted, as part of the write of the events. */
export async function storeTally(tx: Tx, tally: Tally): Promise<void> {
  const shared = tallyOf(tx);
  if (shared) shared.add(tally);
  else await storeNow(tx, tally);
}

async function storeNow(tx: Tx, tally: Tally): Promise<void> {
  for (const { hour, by, ...key } of tally.take()) {
    const hourStart = hour * HOUR_MS;
    const starts = { hourStart, dayStart: hourStart - (hourStart % DAY_MS) };
    for (const [counter, times] of by) await additions[counter].all(tx, { ...key, ...starts, by: times });
  }
}

/**
 * Counts a contact that was unsubscribed, as part of the write of its event. Contacts belong to no domain and to no
 * broadcast.
 */
export async function countUnsubscribed(
  tx: Tx,
  { tenantId, address }: Pick<ContactRow, 'tenantId' | 'address'>,
  { mode, at }: Pick<CountRow, 'mode'> & { at: number },
): Promise<void> {
  const tally = new Tally();
  const mail = { tenantId, mode, kind: 'broadcast', domainId: null, broadcastId: null } as const;
  tally.count(mail, { to: address, at, counters: ['unsubscribed'] });
  await storeTally(tx, tally);
}

/** Columns that a report can be divided by. */
export type CountGroup = 'kind' | 'domainId' | 'broadcastId' | 'provider';

export type CountFilter = {
  /** The only domain whose mail the caller may see; null allows every domain. */
  visibleDomainId: CountRow['domainId'] | null;
  domainId?: string;
  kind?: CountRow['kind'];
  broadcastId?: string;
  provider?: string;
};

export type CountQuery = Pick<CountRow, 'tenantId' | 'mode' | 'span'> & {
  /** Beginning of the first hour or day, and end of the last, in Unix milliseconds. */
  from: number;
  until: number;
  filter: CountFilter;
  groupBy: CountGroup | null;
};

export type Counts = Record<Counter, number>;
/** Counters of an hour or a day; with `group`, only what belongs to it. */
export type CountedSpan = Counts & { start: number; group: string | null };

/** Position in the order of the primary key. */
type Position = Pick<CountRow, 'start' | 'kind' | 'domainId' | 'broadcastId' | 'provider'>;

type CountSlice = CountQuery & {
  /** Row after which the slice begins; null for the first. */
  after: Position | null;
  /** Maximum number of rows that the slice reads. */
  rows: number;
};

const POSITION = sql`(start, kind, "domainId", "broadcastId", provider)`;

function valuesOf({ start, kind, domainId, broadcastId, provider }: Position): RawBuilder<unknown> {
  return sql`(${start}, ${kind}, ${domainId}, ${broadcastId}, ${provider})`;
}

/** Reads the next slice of a report, added up by hour or day, and by group. `next` is null at the end. */
export const readCounts = defineRead(
  'counts.read',
  async (tx, slice: CountSlice): Promise<{ spans: CountedSpan[]; next: Position | null }> => {
    const { groupBy, until } = slice;
    const next = await findEnd(tx, slice);
    const rest = rowsOf(tx, slice);
    // SQLite stops at the bound of `start`. It checks the other condition for each row up to there.
    const wanted = next
      ? rest.where('start', '<=', next.start).where(sql<boolean>`${POSITION} <= ${valuesOf(next)}`)
      : rest.where('start', '<', until);
    const group = groupBy === null ? sql<string | null>`NULL` : sql<string | null>`${sql.ref(groupBy)}`;
    const spans = await wanted
      .where((every) => every.and(conditionsOf(slice.filter)))
      .select(['start', group.as('group')])
      .select(COUNTERS.map((counter) => sql<number>`sum(${sql.ref(counter)})`.as(counter)))
      .groupBy(groupBy === null ? ['start'] : ['start', groupBy])
      .execute();
    return { spans: spans as unknown as CountedSpan[], next: next ?? null };
  },
);

function rowsOf(tx: Tx, { tenantId, mode, span, from, after }: CountSlice) {
  const all = tx
    .selectFrom('counts')
    .where('tenantId', '=', tenantId)
    .where('mode', '=', mode)
    .where('span', '=', span);
  return after === null
    ? all.where('start', '>=', from)
    : all.where(sql<boolean>`${POSITION} > ${valuesOf(after)}`);
}

/** Returns the last row of a full slice. */
function findEnd(tx: Tx, slice: CountSlice): Promise<Position | undefined> {
  return rowsOf(tx, slice)
    .where('start', '<', slice.until)
    .select(['start', 'kind', 'domainId', 'broadcastId', 'provider'])
    .orderBy('start')
    .orderBy('kind')
    .orderBy('domainId')
    .orderBy('broadcastId')
    .orderBy('provider')
    .limit(1)
    .offset(slice.rows - 1)
    .executeTakeFirst();
}

function conditionsOf({ visibleDomainId, ...equal }: CountFilter): RawBuilder<boolean>[] {
  return [
    ...(visibleDomainId === null ? [] : [sql<boolean>`"domainId" = ${visibleDomainId}`]),
    ...Object.entries(equal).map(([column, value]) => sql<boolean>`${sql.ref(column)} = ${value}`),
  ];
}

/** Maximum age of counters in days, and of a report by day. A year can be compared with the one before. */
export const MAX_COUNTED_DAYS = 400;

type CountExpiry = {
  /** Time in Unix milliseconds: rows that begin before it have expired. */
  before: number;
  /** Maximum number of rows that the slice deletes. */
  rows: number;
};

const deleteOldest = statement((db, param: Param<CountExpiry>) =>
  db
    .deleteFrom('counts')
    .where(
      sql<boolean>`("tenantId", mode, span, start, kind, "domainId", "broadcastId", provider) IN (
        SELECT "tenantId", mode, span, start, kind, "domainId", "broadcastId", provider FROM counts
        WHERE start < ${constant(param('before'))} LIMIT ${constant(param('rows'))})`,
    )
    .returning('span'),
);

/** Deletes the oldest rows that have expired. */
export const expireCounts = defineWrite(
  'counts.expire',
  async (tx, { before, rows }: CountExpiry): Promise<ExpirySlice> => {
    const deleted = (await deleteOldest.all(tx, { before, rows })).length;
    return { next: deleted === rows ? 'more' : undefined, deleted };
  },
);
