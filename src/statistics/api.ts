/** `GET /v1/metrics`: what became of the mail of a tenant, by hour or by day. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { CountedSpan, Counts } from '../counts/store.ts';
import { COUNTERS } from '../counts/tally.ts';
import { whileAwaited } from '../http/transport/client-disconnect.ts';
import { isoTime } from '../system/clock.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { type ReportQuery, readQuery } from './query.ts';
import { addTo, createReports } from './report.ts';
import { type Metrics, type MetricsQuery, metricsQuery, metricsSchema } from './schemas.ts';

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

/** Returns the report as the API shows it. */
function showReport(
  { from, until, span: interval, groupBy }: ReportQuery,
  spans: readonly CountedSpan[],
): Metrics {
  return {
    from: isoTime(from),
    to: isoTime(until),
    interval,
    totals: withRates(sumOf(spans)),
    groups: groupBy === null ? [] : sumsByGroup(spans),
    data: spans.map(({ start, group, ...counts }) => ({
      start: isoTime(start),
      group,
      ...withRates(counts),
    })),
  };
}

function sumsByGroup(spans: readonly CountedSpan[]): Metrics['groups'] {
  return [...Map.groupBy(spans, ({ group }) => group ?? '')]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, ofGroup]) => ({ group, ...withRates(sumOf(ofGroup)) }));
}

function sumOf(spans: readonly CountedSpan[]): Counts {
  const sum = Object.fromEntries(COUNTERS.map((counter) => [counter, 0])) as Counts;
  for (const span of spans) addTo(sum, span);
  return sum;
}

function withRates(counts: Counts): Metrics['totals'] {
  const { accepted, delivered } = counts;
  const bounced = counts.bouncedPermanent + counts.bouncedTransient + counts.bouncedUndetermined;
  return {
    ...counts,
    bounced,
    rates: {
      delivered: rate(delivered, accepted),
      bounced: rate(bounced, accepted),
      complained: rate(counts.complained, delivered),
      opened: rate(counts.uniqueOpened, delivered),
      clicked: rate(counts.uniqueClicked, delivered),
      unsubscribed: rate(counts.unsubscribed, delivered),
    },
  };
}

/** Returns a share with six decimals, which is one in a million. */
function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1_000_000) / 1_000_000;
}
