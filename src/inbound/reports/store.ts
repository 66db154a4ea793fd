/** Stores the reports of other servers about domains. All SQL of this table is here, and nothing else writes it. */
import { sql } from 'kysely';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import type { ReceivedReportRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { DAY_MS } from '../../system/clock.ts';
import { firstIdAt } from '../../system/ids.ts';

/** Maximum number of reports about a domain that are stored in 24 hours. Our own limit: a large domain gets some hundreds. */
const MAX_DAILY_REPORTS = 1_000;
/** Maximum number of these from one reporter. Our own limit: most send one a day, and some send one an hour. */
export const MAX_DAILY_REPORTS_OF_ONE = 50;

type Recent = Pick<ReceivedReportRow, 'domainId' | 'reporter'> & { first: ReceivedReportRow['id'] };

const recentOf = statement((db, param: Param<Pick<Recent, 'domainId' | 'first'>>) =>
  db
    .selectFrom('receivedReports')
    .select('id')
    .where('domainId', '=', param('domainId'))
    .where('id', '>=', constant(param('first')))
    .limit(sql.lit(MAX_DAILY_REPORTS)),
);

const recentOfReporter = statement((db, param: Param<Recent>) =>
  db
    .selectFrom('receivedReports')
    .select('id')
    .where('domainId', '=', param('domainId'))
    .where('reporter', '=', param('reporter'))
    .where('id', '>=', constant(param('first')))
    .limit(sql.lit(MAX_DAILY_REPORTS_OF_ONE)),
);

const insert = statement((db, param: Param<ReceivedReportRow>) =>
  db
    .insertInto('receivedReports')
    .values({
      id: param('id'),
      tenantId: param('tenantId'),
      domainId: param('domainId'),
      type: param('type'),
      reporter: param('reporter'),
      organization: param('organization'),
      reportId: param('reportId'),
      beginAt: param('beginAt'),
      endAt: param('endAt'),
      passed: param('passed'),
      failed: param('failed'),
      details: param('details'),
      createdAt: param('createdAt'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** The result of storing a report. `duplicate`: the reporter sent it before. `limited`: the domain got too many. */
type StoredReport = 'stored' | 'duplicate' | 'limited';

/** Stores a report, once for all times that its reporter sends it. */
export const insertReport = defineWrite(
  'inbound.insertReport',
  async (tx, row: ReceivedReportRow): Promise<StoredReport> => {
    const { domainId, reporter, createdAt } = row;
    const recent = { domainId, reporter, first: firstIdAt('rep', createdAt - DAY_MS) };
    const ofReporter = await recentOfReporter.all(tx, recent);
    if (ofReporter.length >= MAX_DAILY_REPORTS_OF_ONE) return 'limited';
    if ((await recentOf.all(tx, recent)).length >= MAX_DAILY_REPORTS) return 'limited';
    return (await insert.first(tx, row)) ? 'stored' : 'duplicate';
  },
);

type OfDomain = Pick<ReceivedReportRow, 'tenantId' | 'domainId'> & {
  type?: ReceivedReportRow['type'] | undefined;
};

/** Returns a page of the reports about a domain. */
export function listReports(
  tx: Tx,
  { tenantId, domainId, type }: OfDomain,
  page: PageRequest,
): Promise<Page<ReceivedReportRow>> {
  const ofDomain = tx
    .selectFrom('receivedReports')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('domainId', '=', domainId);
  const query = type === undefined ? ofDomain : ofDomain.where('type', '=', type);
  return readPage(page, (slice) => inSlice(query, 'id', slice).execute());
}

/** Deletes the reports of the range. */
export const expireReports = defineWrite(
  'inbound.expireReports',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'receivedReports', range);
    const { numDeletedRows } = await tx
      .deleteFrom('receivedReports')
      .where(isInSlice)
      .executeTakeFirstOrThrow();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
