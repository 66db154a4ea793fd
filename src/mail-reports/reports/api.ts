/** `/v1/domains/{id}/reports`: what other servers report about the mail of a domain. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import type { ReceivedReportRow } from '../../db/inbound-tables.ts';
import { requireIdWithin } from '../../domains/reach.ts';
import { getDomain } from '../../domains/store.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from '../../http/json/page.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { reportFilter, reportSchema, showReport } from './schemas.ts';
import { listReports } from './store.ts';

type ReportQuery = PageQuery & { type?: ReceivedReportRow['type'] };

const PATH = '/domains/:id/reports';

/** Registers the route of the reports about a domain. */
export function registerReportsApi(server: FastifyInstance, { db }: Pick<App, 'db'>): void {
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
