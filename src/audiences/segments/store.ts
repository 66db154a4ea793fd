/**
 * Stores segments, and finds their contacts. All SQL of this table is here, and nothing else writes it. The contacts of a
 * segment are not stored. Each request scans the audience, one slice at a time, so that no query takes long, however few
 * contacts it finds.
 */

import type { BroadcastRow, ContactRow, SegmentRow } from '../../db/marketing-tables.ts';
import { defineRead, defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage, type Slice } from '../../db/page.ts';
import {
  countRows,
  deleteRows,
  findColumns,
  findRow,
  insertRow,
  listRows,
  updateRows,
} from '../../db/rows.ts';
import { realClock } from '../../system/clock.ts';
import { invalid, limitReached, orNotFound } from '../../system/errors.ts';
import { type Changer, requireSegmentUnplanned } from '../../tenants/planned-mail-store.ts';
import { findTopic } from '../../topics/store.ts';
import { findAudience } from '../store.ts';
import { type FilterContext, segmentCondition } from './condition.ts';
import { type Filter, referencesOf } from './filter.ts';

/** Maximum number of segments per tenant. */
export const MAX_SEGMENTS = 1_000;

type TenantId = SegmentRow['tenantId'];

type NewSegment = Omit<SegmentRow, 'audienceId' | 'filter'> & { audienceId: string; filter: Filter };

/**
 * Stores a new segment and returns it.
 * @throws AppError validation_error naming an audience, topic or broadcast that does not exist, or when the tenant has the maximum
 * number of segments
 */
export const createSegment = defineWrite(
  'segments.create',
  async (tx, { filter, ...given }: NewSegment): Promise<SegmentRow> => {
    const { tenantId } = given;
    const audienceId = await requireAudience(tx, tenantId, given.audienceId);
    await requireReferences(tx, tenantId, filter);
    const count = await countRows(tx, 'segments', { tenantId });
    if (count >= MAX_SEGMENTS) {
      throw limitReached('segments', count);
    }
    const segment = { ...given, audienceId, filter: JSON.stringify(filter) };
    await insertRow(tx, 'segments', segment);
    return segment;
  },
);

/**
 * Returns the id of an audience of the tenant.
 * @throws AppError validation_error naming `audienceId`, because an id in a body that names nothing is an invalid field
 */
export async function requireAudience(
  tx: Tx,
  tenantId: TenantId,
  audienceId: string,
): Promise<SegmentRow['audienceId']> {
  const audience = await findAudience(tx, tenantId, audienceId);
  if (!audience) throw invalid('audienceId', '`audienceId` is not the id of one of your audiences');
  return audience.id;
}

/**
 * Checks that the topics and broadcasts of a filter exist.
 * @throws AppError validation_error naming the rule whose topic or broadcast does not exist
 */
export async function requireReferences(tx: Tx, tenantId: TenantId, filter: Filter): Promise<void> {
  for (const { kind, id, path } of referencesOf(filter)) {
    const found =
      kind === 'topic'
        ? await findTopic(tx, tenantId, id)
        : await findColumns(tx, 'broadcasts', {
            select: ['id'],
            where: { tenantId, id: id as BroadcastRow['id'] },
          });
    if (!found) throw invalid(path, `\`${path}\` does not name one of your ${kind}s`);
  }
}

/** Returns a segment, or undefined when the tenant has no such segment. */
export function findSegment(tx: Tx, tenantId: TenantId, id: string): Promise<SegmentRow | undefined> {
  return findRow(tx, 'segments', { tenantId, id: id as SegmentRow['id'] });
}

/**
 * Returns a segment.
 * @throws AppError not_found, also for the segment of another tenant
 */
export async function getSegment(tx: Tx, tenantId: TenantId, id: string): Promise<SegmentRow> {
  return orNotFound(await findSegment(tx, tenantId, id), 'Segment');
}

/** Returns a page of segments, newest first. `audienceId` limits it to the segments of one audience. */
export function listSegments(
  tx: Tx,
  tenantId: TenantId,
  { audienceId, ...page }: PageRequest & { audienceId?: string },
): Promise<Page<SegmentRow>> {
  let wanted = tx.selectFrom('segments').selectAll().where('tenantId', '=', tenantId);
  if (audienceId !== undefined)
    wanted = wanted.where('audienceId', '=', audienceId as SegmentRow['audienceId']);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

type Changing = Changer & { id: string };
type SegmentChange = { name?: string; filter?: Filter };

/**
 * Changes a segment and returns it. Fields that the change does not name stay.
 * @throws AppError not_found; validation_error naming a topic or broadcast that does not exist; restricted_api_key for other rules that the
 * caller may not set
 */
export const changeSegment = defineWrite(
  'segments.change',
  async (tx, { id, change, now, ...changer }: Changing & { change: SegmentChange; now: number }) => {
    const { tenantId } = changer;
    const before = await getSegment(tx, tenantId, id);
    if (change.filter) await requireReferences(tx, tenantId, change.filter);
    const { name = before.name } = change;
    const filter = change.filter ? JSON.stringify(change.filter) : before.filter;
    if (name === before.name && filter === before.filter) return before;
    if (filter !== before.filter) await requireSegmentUnplanned(tx, changer, before.id);
    await updateRows(tx, 'segments', { set: { name, filter, updatedAt: now }, where: { id: before.id } });
    return { ...before, name, filter, updatedAt: now };
  },
);

/**
 * Deletes a segment.
 * @throws AppError not_found, restricted_api_key
 */
export const deleteSegment = defineWrite('segments.delete', async (tx, { id, ...changer }: Changing) => {
  const segment = await getSegment(tx, changer.tenantId, id);
  await requireSegmentUnplanned(tx, changer, segment.id);
  await deleteRows(tx, 'segments', { id: segment.id });
});

/** Deletes the segments of an audience. */
export async function deleteSegmentsOf(tx: Tx, audienceId: SegmentRow['audienceId']): Promise<void> {
  await deleteRows(tx, 'segments', { audienceId });
}

/** The audience to scan, and the filter that its contacts are tested with. */
export type SegmentQuery = {
  tenantId: TenantId;
  audienceId: SegmentRow['audienceId'];
  filter: Filter;
  /** Time that `within_days` counts from, in Unix milliseconds. It is the same for all slices of one query. */
  now: number;
};

/** The part of an audience that comes next in a scan. */
type NextSlice = Pick<SegmentQuery, 'audienceId'> & {
  /** Last contact of the previous slice; undefined for the first slice. */
  after: ContactRow['id'] | undefined;
  /** Maximum number of contacts to scan. */
  scan: number;
};

type SliceBounds = Partial<Pick<Slice, 'direction' | 'from' | 'until'>>;

type SegmentSlice = SegmentQuery & NextSlice & SliceBounds & { limit: number };

/**
 * Returns contacts of a segment in the order of their ids, oldest first unless `direction` differs, and the time that it
 * took. `last` is where the next slice continues, or undefined at the end.
 */
export const readSegmentSlice = defineRead('segments.slice', (tx, input: SegmentSlice) =>
  timed(() => readSlice(tx, input)),
);

async function readSlice(tx: Tx, input: SegmentSlice) {
  const { direction = 'newer', limit, scan } = input;
  const idRange = await readIdRange(tx, input);
  if (!idRange) return { contacts: [] as ContactRow[], last: undefined };
  const order = direction === 'newer' ? 'asc' : 'desc';
  const contacts = await (await selectMatching(tx, input, idRange))
    .selectAll()
    .orderBy('contacts.id', order)
    .limit(limit)
    .execute();
  if (contacts.length === limit) return { contacts, last: contacts.at(-1)?.id };
  const end = direction === 'newer' ? idRange.newest : idRange.oldest;
  return { contacts, last: idRange.scanned < scan ? undefined : end };
}

/** Returns the ids that the next slice spans. It is cheap, so that slices can be found in turn and counted in parallel. */
export const findIdRange = defineRead('segments.idRange', (tx, slice: NextSlice) => readIdRange(tx, slice));

/** Counts the contacts of a segment in a range of ids. Returns the time that it took, too. */
export const countIdRange = defineRead(
  'segments.countIdRange',
  (tx, { idRange, ...query }: SegmentQuery & { idRange: IdRange }) =>
    timed(async () =>
      (await selectMatching(tx, query, idRange))
        .select((select) => select.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow(),
    ),
);

/** Time that a query occupies its thread, in milliseconds, without the wait for the thread. */
type Took = { tookMs: number };

/** Measures a query with the real clock, because a reader thread has no other. */
export async function timed<Found>(query: () => Promise<Found>): Promise<Found & Took> {
  const since = realClock.elapsed();
  const found = await query();
  return { ...found, tookMs: realClock.elapsed() - since };
}

/** A part of an audience, both ends included, and its number of contacts. */
export type IdRange = { oldest: ContactRow['id']; newest: ContactRow['id']; scanned: number };

/** Returns the range of the next contacts of the audience from the index alone, or undefined at the end. It never blocks for long. */
export async function readIdRange(tx: Tx, slice: NextSlice & SliceBounds): Promise<IdRange | undefined> {
  const { audienceId, after, scan, direction = 'newer', from, until } = slice;
  const ids = tx.selectFrom('contacts').select('contacts.id').where('audienceId', '=', audienceId);
  const ahead = inSlice(ids, 'contacts.id', { direction, cursor: after, limit: scan, from, until });
  // Skipping to the last contact takes a third of the time that reading each of them takes.
  const end = await ahead
    .limit(1)
    .offset(scan - 1)
    .executeTakeFirst();
  const start = end && (await ahead.limit(1).executeTakeFirst());
  if (end && start) {
    const [oldest, newest] = direction === 'newer' ? [start.id, end.id] : [end.id, start.id];
    return { oldest, newest, scanned: scan };
  }
  const { oldest, newest, scanned } = await tx
    .selectFrom(ahead.as('ahead'))
    .select(({ fn }) => [
      fn.min('ahead.id').as('oldest'),
      fn.max('ahead.id').as('newest'),
      fn.countAll<number>().as('scanned'),
    ])
    .executeTakeFirstOrThrow();
  return scanned === 0 ? undefined : { oldest, newest, scanned };
}

/** Selects the contacts of a segment in a range of ids, or all contacts of the audience when there is no filter. */
export async function selectMatching(
  tx: Tx,
  { filter, ...query }: Omit<SegmentQuery, 'filter'> & { filter: Filter | undefined },
  idRange: IdRange,
) {
  const inRange = tx
    .selectFrom('contacts')
    .where('audienceId', '=', query.audienceId)
    .where('contacts.id', '>=', idRange.oldest)
    .where('contacts.id', '<=', idRange.newest)
    .where('tenantId', '=', query.tenantId);
  if (!filter) return inRange;
  return inRange.where(segmentCondition(filter, await readFilterContext(tx, { ...query, filter })));
}

async function readFilterContext(tx: Tx, { tenantId, filter, now }: SegmentQuery): Promise<FilterContext> {
  const namesTopics = referencesOf(filter).some(({ kind }) => kind === 'topic');
  const topics = namesTopics ? await listRows(tx, 'topics', { where: { tenantId }, orderBy: 'id' }) : [];
  return { now, topicDefaults: new Map(topics.map(({ id, defaultOptIn }) => [id, defaultOptIn === 1])) };
}
