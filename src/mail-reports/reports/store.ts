/** Stores the reports of other servers about domains. All SQL of this table is here, and nothing else writes it. */

import { sql } from 'kysely';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import type { ReceivedReportRow } from '../../db/inbound-tables.ts';
import { defineRead, defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import { insertRowOnce } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { DAY_MS } from '../../system/clock.ts';
import { firstIdAt } from '../../system/ids.ts';
import { mayTakeAnother } from '../../system/shares.ts';
import { addStoredBytes, hasShareFor, subtractStoredBytes } from '../../tenants/stored-mail/store.ts';

/** Maximum number of reports about a domain that are stored in 24 hours. A large domain gets some hundreds. */
export const MAX_DAILY_REPORTS = 1_000;
/**
 * Number of these that the owner of one registered domain may have for each one that is still free. One owner alone gets a twentieth
 * of them, and some are left for every other one. Most reporters send one a day, and some send one an hour.
 */
const HELD_PER_FREE = 1 / 19;
/**
 * Share of the limit of stored mail in a tenant's plan beyond which its reports are dropped. Everybody can send reports, and they
 * are kept for months, so they must not take all the space of mail.
 */
const MAX_SHARE_OF_PLAN = 1 / 2;
/** Bytes of a row without its details, with its entries in indexes. Migration 0044 counts the same. */
const ROW_BYTES = 1_024;

type Recent = Pick<ReceivedReportRow, 'domainId' | 'registrableDomain'> & { first: ReceivedReportRow['id'] };

const countRecent = statement((db, param: Param<Pick<Recent, 'domainId' | 'first'>>) =>
  db
    .selectFrom('receivedReports')
    .select(({ fn }) => fn.countAll<number>().as('reports'))
    .where('domainId', '=', param('domainId'))
    .where('id', '>=', constant(param('first'))),
);

const countRecentOfOwner = statement((db, param: Param<Recent>) =>
  db
    .selectFrom('receivedReports')
    .select(({ fn }) => fn.countAll<number>().as('reports'))
    .where('domainId', '=', param('domainId'))
    .where('registrableDomain', '=', param('registrableDomain'))
    .where('id', '>=', constant(param('first'))),
);

/**
 * The result of storing a report. `duplicate`: the reporter sent it before. `limited`: the domain got too many, or too many of one
 * owner. `full`: the plan of the tenant has no space for it.
 */
type StoredReport = 'stored' | 'duplicate' | 'limited' | 'full';

/** Returns what a report counts against the limit of its tenant, in bytes. */
export function reportBytesOf({ details }: Pick<ReceivedReportRow, 'details'>): number {
  return ROW_BYTES + Buffer.byteLength(details);
}

/** Stores a report, once for all times that its reporter sends it. Its size counts against the plan until it is deleted. */
export const insertReport = defineWrite(
  'inbound.insertReport',
  async (tx, row: ReceivedReportRow): Promise<StoredReport> => {
    const { tenantId, domainId, registrableDomain, createdAt } = row;
    const sizeBytes = reportBytesOf(row);
    const recent = { domainId, registrableDomain, first: firstIdAt('rep', createdAt - DAY_MS) };
    const { reports: held = 0 } = (await countRecentOfOwner.first(tx, recent)) ?? {};
    const { reports = 0 } = (await countRecent.first(tx, recent)) ?? {};
    if (!mayTakeAnother({ held, free: MAX_DAILY_REPORTS - reports, perFree: HELD_PER_FREE }))
      return 'limited';
    if (!(await hasShareFor(tx, tenantId, { share: MAX_SHARE_OF_PLAN, sizeBytes }))) return 'full';
    if (!(await insertRowOnce(tx, 'receivedReports', row))) return 'duplicate';
    await addStoredBytes(tx, tenantId, sizeBytes);
    return 'stored';
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

/** Maximum number of rows of a sum, the newest days first: 400 days with reports of both types. Our own limit. */
const MAX_SUMS = 800;

/** Reports of one type that begin on a day. */
export type ReportSum = {
  /** Beginning of the day in UTC, in Unix milliseconds. */
  dayAt: number;
  type: ReceivedReportRow['type'];
  reports: number;
  passed: number;
  failed: number;
};

/** The ids of the reports, from `from` and before `until`. */
type IdRange = Pick<PageRequest, 'from' | 'until'>;

/**
 * Sums the reports about a domain by type and day, the oldest day first. Reporters say themselves when a report begins: those that begin at
 * `before` or later, in Unix milliseconds, are left out, because they would push others out of the sums. It reads an index alone.
 */
export const sumReports = defineRead(
  'inbound.sumReports',
  async (
    tx,
    { domainId, type, before, from = '', until }: Omit<OfDomain, 'tenantId'> & IdRange & { before: number },
  ): Promise<ReportSum[]> => {
    const dayAt = sql<number>`beginAt - beginAt % ${sql.lit(DAY_MS)}`;
    // Reporters choose the numbers, whose sum may be larger than SQLite adds as integers.
    const total = (column: 'passed' | 'failed') => sql<number>`total(${sql.ref(column)})`.as(column);
    let found = tx
      .selectFrom('receivedReports')
      .select(['type', dayAt.as('dayAt'), total('passed'), total('failed')])
      .select(({ fn }) => fn.countAll<number>().as('reports'))
      .where('domainId', '=', domainId)
      .where('beginAt', '<', before)
      .where('id', '>=', from as ReceivedReportRow['id']);
    if (until !== undefined) found = found.where('id', '<', until as ReceivedReportRow['id']);
    if (type !== undefined) found = found.where('type', '=', type);
    const newest = found.groupBy(['dayAt', 'type']).orderBy('dayAt', 'desc').orderBy('type').limit(MAX_SUMS);
    return (await newest.execute()).reverse();
  },
);

/** Deletes the reports of the range. */
export const expireReports = defineWrite(
  'inbound.expireReports',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'receivedReports', range);
    const deleted = await tx
      .deleteFrom('receivedReports')
      .where(isInSlice)
      .returning(['tenantId', sql<number>`length(CAST(details AS BLOB))`.as('detailsBytes')])
      .execute();
    for (const { tenantId, detailsBytes } of deleted)
      await subtractStoredBytes(tx, tenantId, ROW_BYTES + detailsBytes);
    return { next, deleted: deleted.length };
  },
  { priority: 'bulk' },
);
