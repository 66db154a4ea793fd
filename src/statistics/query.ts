/** Reads what `GET /v1/metrics` is asked for. */
import { type CountGroup, type CountQuery, MAX_COUNTED_DAYS } from '../counts/store.ts';
import { SPAN_MS } from '../counts/tally.ts';
import { readTagFilter, type Tag } from '../emails/request/tags.ts';
import { DAY_MS, parseTimestamp } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { MAX_HOURLY_DAYS, MAX_RECOUNTED_DAYS, type MetricsQuery } from './schemas.ts';

const DEFAULT_DAYS = { hour: 1, day: 30 } as const;

const GROUPS = {
  domain: 'domainId',
  type: 'kind',
  broadcast: 'broadcastId',
  provider: 'provider',
} as const satisfies Record<NonNullable<MetricsQuery['groupBy']>, CountGroup>;

/** A report that is asked for. */
export type ReportQuery = CountQuery & {
  /** Every possible meaning of the tag; undefined for a report of all mail. */
  tags: readonly Tag[] | undefined;
};

/**
 * Returns the report that a query asks for. `now` is in Unix milliseconds.
 * @throws AppError validation_error for an invalid time, tag, or length
 */
export function readQuery(
  query: MetricsQuery,
  { tenantId, mode, domainId: visibleDomainId }: Pick<Caller, 'tenantId' | 'mode' | 'domainId'>,
  now: number,
): ReportQuery {
  const { interval: span = 'day', domainId, type, broadcastId, provider, groupBy, tag } = query;
  const filter = {
    visibleDomainId,
    ...(domainId !== undefined && { domainId }),
    ...(type !== undefined && { kind: type }),
    ...(broadcastId !== undefined && { broadcastId }),
    ...(provider !== undefined && { provider }),
  };
  return {
    tenantId,
    mode,
    span,
    filter,
    groupBy: groupBy === undefined ? null : GROUPS[groupBy],
    tags: tag === undefined ? undefined : readTagFilter(tag),
    ...readRange({ ...query, interval: span }, now),
  };
}

function readRange(
  { from, to, interval, tag }: MetricsQuery & { interval: CountQuery['span'] },
  now: number,
): Pick<CountQuery, 'from' | 'until'> {
  const until = to === undefined ? now : readTime('to', to);
  const since = from === undefined ? until - DEFAULT_DAYS[interval] * DAY_MS : readTime('from', from);
  if (since >= until) throw invalid('to', '`to` must be later than `from`');
  const byInterval = interval === 'hour' ? MAX_HOURLY_DAYS : MAX_COUNTED_DAYS;
  const days = tag === undefined ? byInterval : Math.min(byInterval, MAX_RECOUNTED_DAYS);
  if (until - since > days * DAY_MS) {
    const what = tag === undefined ? `With \`interval=${interval}\`` : 'With `tag`';
    throw invalid('from', `${what}, \`from\` may be at most ${days} days before \`to\``);
  }
  const spanMs = SPAN_MS[interval];
  return { from: Math.floor(since / spanMs) * spanMs, until: Math.ceil(until / spanMs) * spanMs };
}

function readTime(param: string, text: string): number {
  const time = parseTimestamp(text);
  if (time !== undefined) return time;
  throw invalid(param, `\`${param}\` must be an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z`);
}
