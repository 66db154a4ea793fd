/** Stores opens and clicks. All SQL of this table is here. */
import { sql } from 'kysely';
import type { Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { EngagementRow } from '../../db/tracking-tables.ts';

type NewEngagement = Omit<EngagementRow, 'id' | 'requests' | 'verdict' | 'reason' | 'eventId'>;

const insert = statement((db, param: Param<NewEngagement>) =>
  db.insertInto('engagements').values({
    // SQLite assigns the next number.
    id: sql<number>`NULL`,
    emailId: param('emailId'),
    kind: param('kind'),
    link: param('link'),
    at: param('at'),
    ip: param('ip'),
    userAgent: param('userAgent'),
    isHead: param('isHead'),
    isPrefetch: param('isPrefetch'),
    requests: 1,
    dueAt: param('dueAt'),
  }),
);

/** Inserts an engagement that waits for its judgement. */
export async function insertEngagement(tx: Tx, engagement: NewEngagement): Promise<void> {
  await insert.all(tx, engagement);
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
          AND "userAgent" IS ${param('userAgent')} THEN id END)`.as('unjudgedId'),
      )
      .where('emailId', '=', param('emailId'))
      .where('kind', '=', param('kind'))
      .where('link', 'is', param('link')),
);

/**
 * Returns what is stored of the same kind and link of an email. `unjudgedId` is the row of the same client that is not
 * judged yet, or null.
 */
export async function findSimilar(
  tx: Tx,
  engagement: Pick<EngagementRow, 'emailId' | 'kind' | 'link' | 'ip' | 'userAgent'>,
): Promise<Similar & { unjudgedId: EngagementRow['id'] | null }> {
  const found = await similarOfLink.first(tx, engagement);
  return found ?? { rows: 0, newestId: null, latestAt: null, unjudgedId: null };
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
