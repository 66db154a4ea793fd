/** `GET /v1/metrics`: what became of the mail of a tenant, by hour or by day. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { whileAwaited } from '../http/transport/client-disconnect.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { readQuery } from './query.ts';
import { createReports } from './report.ts';
import { type MetricsQuery, metricsQuery, metricsSchema } from './schemas.ts';
import { showReport } from './show.ts';

/** Registers the route on the server. */
export function registerStatisticsApi(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  const reports = createReports(app);
  const schema = {
    operationId: 'getMetrics',
    summary: 'Count what became of your mail',
    description:
      'Adds up the events of the mode of the key by hour or day, with rates. Counters change together with the events, so the ' +
      'answer is always up to date. Opens and clicks are those of tracked mail; rates count people alone.',
    tags: ['Metrics'],
    querystring: metricsQuery,
    response: { 200: metricsSchema },
  };
  server.get<{ Querystring: MetricsQuery }>('/metrics', { schema }, async (request) => {
    const query = readQuery(request.query, callerOf(request), app.clock.now());
    const spans = await whileAwaited(request, (gone) => reports.read(query, gone));
    return showReport(query, spans);
  });
}
