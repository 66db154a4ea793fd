/** `/v1/domains/{id}/reports`: what other servers report about the mail of a domain, and the sums of it by day. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import type { ReceivedReportRow } from '../../db/inbound-tables.ts';
import { requireIdWithin } from '../../domains/reach.ts';
import { getDomain } from '../../domains/store.ts';
import {
  idRange,
  listEnvelope,
  type PageQuery,
  pageQuery,
  pageRequest,
  pageSchema,
  timeQuery,
} from '../../http/json/page.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { DAY_MS } from '../../system/clock.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { reportFilter, reportSchema, reportSumsSchema, showReport, showSums } from './schemas.ts';
import { listReports, sumReports } from './store.ts';

type ReportQuery = PageQuery & { type?: ReceivedReportRow['type'] };

const PATH = '/domains/:id/reports';

/** Registers the routes of the reports about a domain. */
export function registerReportsApi(server: FastifyInstance, app: Pick<App, 'clock' | 'db'>): void {
  registerList(server, app);
  registerSums(server, app);
}

function registerList(server: FastifyInstance, { db }: Pick<App, 'clock' | 'db'>): void {
  server.get<{ Params: { id: string }; Querystring: ReportQuery }>(
    PATH,
    {
      schema: {
        operationId: 'listDomainReports',
        summary: 'List reports about a domain',
        description:
          'Returns the reports of other servers about DMARC and TLS, the newest first. They arrive once the `rua` of the suggested DMARC record is published.',
        tags: ['Domains'],
        ...paramsOf(PATH),
        querystring: Type.Object({ ...pageQuery, ...reportFilter }),
        response: { 200: pageSchema(reportSchema) },
      },
    },
    async (request) => {
      const { tenantId, ...limit } = callerOf(request);
      const page = pageRequest(request.query, 'rep');
      const wanted = requireIdWithin(limit, request.params.id);
      const { id: domainId } = await getDomain(db.read, tenantId, wanted);
      const { type } = request.query;
      return listEnvelope(
        request.query,
        await listReports(db.read, { tenantId, domainId, type }, page),
        showReport,
      );
    },
  );
}

const SUMS_PATH = `${PATH}/days`;

function registerSums(server: FastifyInstance, { clock, db }: Pick<App, 'clock' | 'db'>): void {
  server.get<{ Params: { id: string }; Querystring: Omit<ReportQuery, 'limit'> }>(
    SUMS_PATH,
    {
      schema: {
        operationId: 'sumDomainReports',
        summary: 'Sum reports about a domain by day',
        description:
          'Returns the sums of the reports that the list would return, by their type and by the day on which they begin: at most the newest 800 sums, and none of days after tomorrow.',
        tags: ['Domains'],
        ...paramsOf(SUMS_PATH),
        querystring: Type.Object({ ...timeQuery, ...reportFilter }),
        response: { 200: reportSumsSchema },
      },
    },
    async (request) => {
      const { query, params } = request;
      const { tenantId, ...limit } = callerOf(request);
      const range = idRange(query, 'rep');
      const { id: domainId } = await getDomain(db.read, tenantId, requireIdWithin(limit, params.id));
      // Reporters are in other time zones, and their clocks are not ours.
      const before = clock.now() + 2 * DAY_MS;
      return showSums(await db.query(sumReports, { domainId, type: query.type, before, ...range }));
    },
  );
}
