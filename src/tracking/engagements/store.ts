/** Stores opens and clicks. All SQL of these tables is here, apart from what a classification reads. */

import { sql } from 'kysely';
import type { ExpirySlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, insertRow, insertRowOnce, updateRows } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { EngagementRow, FirstEngagementRow } from '../../db/tracking-tables.ts';
import { forgetReaders } from '../../events/store.ts';

type NewEngagement = Omit<EngagementRow, 'id' | 'requests' | 'verdict' | 'reason' | 'eventId'>;

/** Inserts an engagement that waits for its classification. */
export async function insertEngagement(tx: Tx, engagement: NewEngagement): Promise<void> {
  await insertRow(tx, 'engagements', { ...engagement, requests: 1 });
}

type Similar = {
  /** Number of rows. */
  rows: number;
  /** The newest row, and the time of the latest one. Null without any. */
  newestId: EngagementRow['id'] | null;
  latestAt: number | null;
};

const similarOfLink = statement(
  (db, param: Param<Pick<EngagementRow, 'emailId' | 'kind' | 'link' | 'ip' | 'userAgent'>>) =>
    db
      .selectFrom('engagements')
      .select(sql<number>`count(*)`.as('rows'))
      .select(sql<EngagementRow['id'] | null>`max(id)`.as('newestId'))
      .select(sql<number | null>`max(at)`.as('latestAt'))
      .select(
        sql<EngagementRow['id'] | null>`max(CASE WHEN "dueAt" IS NOT NULL AND ip IS ${param('ip')}
          AND "userAgent" IS ${param('userAgent')} THEN id END)`.as('unclassifiedId'),
      )
      .where('emailId', '=', param('emailId'))
      .where('kind', '=', param('kind'))
      .where('link', 'is', param('link')),
);

/**
 * Returns what is stored of the same kind and link of an email. `unclassifiedId` is the row of the same client that is not
 * classified yet, or null.
 */
export async function findSimilar(
  tx: Tx,
  engagement: Pick<EngagementRow, 'emailId' | 'kind' | 'link' | 'ip' | 'userAgent'>,
): Promise<Similar & { unclassifiedId: EngagementRow['id'] | null }> {
  const found = await similarOfLink.first(tx, engagement);
  return found ?? { rows: 0, newestId: null, latestAt: null, unclassifiedId: null };
}

const allOfEmail = statement((db, param: Param<Pick<EngagementRow, 'emailId'>>) =>
  db
    .selectFrom('engagements')
    .select(sql<number>`count(*)`.as('rows'))
    .select(sql<EngagementRow['id'] | null>`max(id)`.as('newestId'))
    .select(sql<number | null>`max(at)`.as('latestAt'))
    .where('emailId', '=', constant(param('emailId'))),
);

/** Returns what is stored of an email. */
export async function findOfEmail(tx: Tx, emailId: EngagementRow['emailId']): Promise<Similar> {
  return (await allOfEmail.first(tx, { emailId })) ?? { rows: 0, newestId: null, latestAt: null };
}

const addRequest = statement((db, param: Param<Pick<EngagementRow, 'id' | 'isHead' | 'isPrefetch'>>) =>
  db
    .updateTable('engagements')
    .set({
      requests: sql`requests + 1`,
      isHead: sql`max("isHead", ${param('isHead')})`,
      isPrefetch: sql`max("isPrefetch", ${param('isPrefetch')})`,
    })
    .where('id', '=', param('id')),
);

/** Counts one more request of an engagement, with its signals. */
export async function countRequest(
  tx: Tx,
  request: Pick<EngagementRow, 'id' | 'isHead' | 'isPrefetch'>,
): Promise<void> {
  await addRequest.all(tx, request);
}

type ById = Pick<EngagementRow, 'id'>;

/**
 * The address is that of the only recipient. Who of several has opened an email is not known: the link is the same for
 * all of them, and the first one stands for all.
 */
const unclassified = statement((db, param: Param<ById>) =>
  db
    .selectFrom('engagements')
    .leftJoin('messages', 'messages.id', 'engagements.emailId')
    .select(['engagements.emailId', 'engagements.kind', 'engagements.url', 'engagements.at'])
    .select(['engagements.ip', 'engagements.userAgent', 'messages.tenantId', 'messages.mode'])
    .select(['messages.kind as mailKind', 'messages.domainId', 'messages.broadcastId'])
    .select(['engagements.link', 'messages.contactId'])
    .select((select) =>
      select
        .selectFrom('recipients')
        .select('address')
        .whereRef('recipients.messageId', '=', 'engagements.emailId')
        .orderBy('position')
        .limit(1)
        .as('to'),
    )
    .where('engagements.id', '=', constant(param('id')))
    .where('engagements.dueAt', 'is not', null),
);

/** Returns an engagement that is not classified yet, with its email. `tenantId` is null when the email was deleted. */
export function findUnclassified(tx: Tx, id: EngagementRow['id']) {
  return unclassified.first(tx, { id });
}

type Classified = ById & Pick<EngagementRow, 'verdict' | 'reason' | 'eventId'>;

/** Stores a verdict. What only the event needs from now on is removed from the row. */
export async function storeVerdict(tx: Tx, classified: Classified): Promise<void> {
  await updateRows(tx, 'engagements', {
    set: {
      verdict: classified.verdict,
      reason: classified.reason,
      eventId: classified.eventId,
      dueAt: null,
      url: null,
      userAgent: null,
    },
    where: { id: classified.id },
  });
}

/** Deletes an engagement whose email no longer exists. */
export async function deleteEngagement(tx: Tx, id: EngagementRow['id']): Promise<void> {
  await deleteRows(tx, 'engagements', { id });
}

/** Stores the first open or click of an email by a person. Returns false when the email has had one. */
export async function storeFirst(tx: Tx, first: FirstEngagementRow): Promise<boolean> {
  return insertRowOnce(tx, 'firstEngagements', first);
}

/** Deletes everything that is stored of these emails. Their events are deleted with all others. */
export async function deleteEngagementsOf(
  tx: Tx,
  emailIds: readonly EngagementRow['emailId'][],
): Promise<void> {
  await tx.deleteFrom('engagements').where('emailId', 'in', emailIds).execute();
  await tx.deleteFrom('firstEngagements').where('emailId', 'in', emailIds).execute();
}

const nextRows = statement((db, param: Param<{ after: number; rows: number }>) =>
  db
    .selectFrom('engagements')
    .select(['id', 'at', 'dueAt', 'eventId'])
    .where('id', '>', constant(param('after')))
    .orderBy('id')
    .limit(constant(param('rows'))),
);

type ReaderExpiry = {
  /** Id after which the slice begins; '' for the first. */
  after: string;
  /** Time in Unix milliseconds at or before which an engagement has expired. */
  before: number;
  /** Maximum number of rows that the slice visits. */
  rows: number;
};

/**
 * Deletes expired engagements among the next rows, with the address and the user agent in their events. Rows are in the
 * order of their times but for changes of the clock, so a slice without an expired one is the last.
 */
export const expireEngagements = defineWrite(
  'tracking.expireEngagements',
  async (tx, { after, before, rows }: ReaderExpiry): Promise<ExpirySlice> => {
    const visited = await nextRows.all(tx, { after: Number(after), rows });
    const expired = visited.filter(({ at, dueAt }) => at <= before && dueAt === null);
    if (expired.length === 0) return { next: undefined, deleted: 0 };
    await forgetReaders(
      tx,
      expired.flatMap(({ eventId }) => eventId ?? []),
    );
    const ids = expired.map(({ id }) => id);
    await tx.deleteFrom('engagements').where('id', 'in', ids).execute();
    const last = visited[rows - 1];
    return { next: last && String(last.id), deleted: ids.length };
  },
  { priority: 'bulk' },
);
