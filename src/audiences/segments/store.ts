/**
 * Segments: all SQL, and the only writer of their table. Their contacts are never kept: they are looked for whenever
 * somebody asks, a slice of the audience at a time, so that no look takes long, however few it finds.
 */

import type { ContactRow, SegmentRow, TopicRow } from '../../db/marketing-tables.ts';
import { defineRead, defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage, type Slice } from '../../db/page.ts';
import { type Param, statement } from '../../db/statement.ts';
import { realClock } from '../../system/clock.ts';
import { invalid, limitReached, notFound } from '../../system/errors.ts';
import { findTopic } from '../../topics/store.ts';
import { findAudience } from '../store.ts';
import { type Circumstances, segmentCondition } from './condition.ts';
import { type Filter, topicsOf } from './filter.ts';

/** Of one tenant (api.md 1.10). */
export const MAX_SEGMENTS = 1_000;

type TenantId = SegmentRow['tenantId'];

export type NewSegment = Omit<SegmentRow, 'audienceId' | 'filter'> & { audienceId: string; filter: Filter };

/** @throws AppError validation_error naming what does not exist, or when the tenant has as many as it may */
export const createSegment = defineWrite(
  'segments.create',
  async (tx, { filter, ...given }: NewSegment): Promise<SegmentRow> => {
    const { tenantId } = given;
    const audienceId = await requireAudience(tx, tenantId, given.audienceId);
    await requireTopics(tx, tenantId, filter);
    const { count } = await tx
      .selectFrom('segments')
      .select((select) => select.fn.countAll<number>().as('count'))
      .where('tenantId', '=', tenantId)
      .executeTakeFirstOrThrow();
    if (count >= MAX_SEGMENTS) {
      throw limitReached('segments already', count, 'delete one first');
    }
    const segment = { ...given, audienceId, filter: JSON.stringify(filter) };
    await tx.insertInto('segments').values(segment).execute();
    return segment;
  },
);

/** @throws AppError validation_error naming `audienceId`: decisions.md 6 */
export async function requireAudience(
  tx: Tx,
  tenantId: TenantId,
  audienceId: string,
): Promise<SegmentRow['audienceId']> {
  const audience = await findAudience(tx, tenantId, audienceId);
  if (!audience) throw invalid('audienceId', '`audienceId` is not the id of one of your audiences');
  return audience.id;
}

/** @throws AppError validation_error naming the rule whose topic does not exist: decisions.md 6 */
export async function requireTopics(tx: Tx, tenantId: TenantId, filter: Filter): Promise<void> {
  for (const { id, path } of topicsOf(filter)) {
    const topic = await findTopic(tx, tenantId, id);
    if (!topic) throw invalid(path, `\`${path}\` does not name one of your topics`);
  }
}

const byId = statement((db, param: Param<Pick<SegmentRow, 'tenantId' | 'id'>>) =>
  db
    .selectFrom('segments')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id')),
);

/** Undefined also for another tenant's. */
export function findSegment(tx: Tx, tenantId: TenantId, id: string): Promise<SegmentRow | undefined> {
  return byId.first(tx, { tenantId, id: id as SegmentRow['id'] });
}

/** @throws AppError not_found, also for another tenant's */
export async function getSegment(tx: Tx, tenantId: TenantId, id: string): Promise<SegmentRow> {
  const segment = await findSegment(tx, tenantId, id);
  if (!segment) throw notFound('Segment');
  return segment;
}

/** Newest first. */
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

type ById = { tenantId: TenantId; id: string };
export type SegmentChange = { name?: string; filter?: Filter };

/** What is not named stays. @throws AppError not_found, validation_error as on creation */
export const changeSegment = defineWrite(
  'segments.change',
  async (tx, { tenantId, id, change, now }: ById & { change: SegmentChange; now: number }) => {
    const before = await getSegment(tx, tenantId, id);
    if (change.filter) await requireTopics(tx, tenantId, change.filter);
    const { name = before.name } = change;
    const filter = change.filter ? JSON.stringify(change.filter) : before.filter;
    await tx
      .updateTable('segments')
      .set({ name, filter, updatedAt: now })
      .where('id', '=', before.id)
      .execute();
    return { ...before, name, filter, updatedAt: now };
  },
);

/** @throws AppError not_found */
export const deleteSegment = defineWrite('segments.delete', async (tx, { tenantId, id }: ById) => {
  const segment = await getSegment(tx, tenantId, id);
  await tx.deleteFrom('segments').where('id', '=', segment.id).execute();
});

/** Part of the write that deletes their audience. */
export async function deleteSegmentsOf(tx: Tx, audienceId: SegmentRow['audienceId']): Promise<void> {
  await tx.deleteFrom('segments').where('audienceId', '=', audienceId).execute();
}

/** What is looked through, and what for. */
export type Question = {
  tenantId: TenantId;
  audienceId: SegmentRow['audienceId'];
  filter: Filter;
  /** Epoch milliseconds: what `within_days` counts from. The same for all slices of one question. */
  now: number;
};

/** A part of an audience. */
type Ahead = Pick<Question, 'audienceId'> & {
  /** Where the slice before ended; undefined for the first. */
  after: ContactRow['id'] | undefined;
  /** Contacts looked at, at most. */
  scan: number;
};

export type SegmentSlice = Question & Ahead;

type Travel = Partial<Pick<Slice, 'direction' | 'from' | 'until'>>;

/**
 * Contacts of a segment in the order of their ids, oldest first unless the direction says otherwise.
 * `last`: where to go on; undefined at the end.
 */
export const readSegmentSlice = defineRead(
  'segments.slice',
  (tx, input: SegmentSlice & Travel & { limit: number }) => timed(() => readSlice(tx, input)),
);

async function readSlice(tx: Tx, input: SegmentSlice & Travel & { limit: number }) {
  const { direction = 'newer', limit, scan } = input;
  const idRange = await scanAhead(tx, input);
  if (!idRange) return { contacts: [] as ContactRow[], last: undefined };
  const order = direction === 'newer' ? 'asc' : 'desc';
  const contacts = await matching(tx, input, idRange, await circumstancesOf(tx, input))
    .selectAll()
    .orderBy('contacts.id', order)
    .limit(limit)
    .execute();
  if (contacts.length === limit) return { contacts, last: contacts.at(-1)?.id };
  const end = direction === 'newer' ? idRange.newest : idRange.oldest;
  return { contacts, last: idRange.scanned < scan ? undefined : end };
}

/** The stretch of a slice, which takes little: what is in it can be counted while the next one is looked for. */
export const findIdRange = defineRead('segments.idRange', (tx, ahead: Ahead) => scanAhead(tx, ahead));

/** How many of a range are of the segment. */
export const countIdRange = defineRead(
  'segments.countIdRange',
  (tx, { idRange, ...question }: Question & { idRange: IdRange }) =>
    timed(async () =>
      matching(tx, question, idRange, await circumstancesOf(tx, question))
        .select((select) => select.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow(),
    ),
);

/** Milliseconds of the thread, without the wait for it. */
export type Took = { tookMs: number };

/** By the real clock: a reader thread is handed no other. */
async function timed<Found>(look: () => Promise<Found>): Promise<Found & Took> {
  const since = realClock.elapsed();
  const found = await look();
  return { ...found, tookMs: realClock.elapsed() - since };
}

/** A part of an audience, both ends included. */
export type IdRange = { oldest: ContactRow['id']; newest: ContactRow['id']; scanned: number };

/** The next contacts of the audience, by the index alone; undefined when there are none. */
async function scanAhead(tx: Tx, slice: Ahead & Travel): Promise<IdRange | undefined> {
  const { audienceId, after, scan, direction = 'newer', from, until } = slice;
  const ids = tx.selectFrom('contacts').select('contacts.id').where('audienceId', '=', audienceId);
  const ahead = inSlice(ids, 'contacts.id', { direction, cursor: after, limit: scan, from, until });
  // To skip to the last of them takes a third of the time that it takes to look at each.
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

function matching(tx: Tx, question: Question, idRange: IdRange, circumstances: Circumstances) {
  return tx
    .selectFrom('contacts')
    .where('audienceId', '=', question.audienceId)
    .where('contacts.id', '>=', idRange.oldest)
    .where('contacts.id', '<=', idRange.newest)
    .where('tenantId', '=', question.tenantId)
    .where(segmentCondition(question.filter, circumstances));
}

const defaultsOfTenant = statement((db, param: Param<Pick<TopicRow, 'tenantId'>>) =>
  db.selectFrom('topics').select(['id', 'defaultOptIn']).where('tenantId', '=', param('tenantId')),
);

async function circumstancesOf(tx: Tx, { tenantId, filter, now }: Question): Promise<Circumstances> {
  const topics = topicsOf(filter).length > 0 ? await defaultsOfTenant.all(tx, { tenantId }) : [];
  return { now, topicDefaults: new Map(topics.map(({ id, defaultOptIn }) => [id, defaultOptIn === 1])) };
}
