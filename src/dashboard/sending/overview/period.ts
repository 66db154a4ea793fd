/** The period that the overview shows: it stands in the address of the page, and says what the numbers of the API are asked for. */

import type { Query } from '../../../http/json/calls.ts';
import { DAY_MS, MINUTE_MS } from '../../../system/clock.ts';

/** Periods in the order in which they are offered. */
export const PERIODS = ['today', '24h', '7d', '30d'] as const;
export type Period = (typeof PERIODS)[number];

/** Lengths of the periods that end now. */
const LENGTHS: Record<Exclude<Period, 'today'>, number> = {
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
};

/** Returns the period that a query names. */
export function periodOf(query: URLSearchParams): Period {
  return PERIODS.find((period) => period === query.get('period')) ?? '7d';
}

/** Returns the query of `GET /v1/metrics` for a period. Short ones are counted by the hour. */
export function metricsQueryOf(period: Period, { now, timeZone }: { now: number; timeZone: string }): Query {
  const from = period === 'today' ? startOfDay(now, timeZone) : now - LENGTHS[period];
  return {
    interval: period === '7d' || period === '30d' ? 'day' : 'hour',
    from: new Date(from).toISOString(),
  };
}

/**
 * Returns the time at which the day began in a time zone. On the day of a change of the clocks, hours that were repeated or left out
 * move it by an hour.
 */
function startOfDay(now: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(now);
  const partOf = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0);
  return now - (now % 1000) - ((partOf('hour') * 60 + partOf('minute')) * 60 + partOf('second')) * 1000;
}

type Span = { from: string; to: string; interval: 'hour' | 'day' };

/** Returns the beginnings of all hours or days of a report, also of those that have no events. */
export function startsOf({ from, to, interval }: Span): string[] {
  const step = interval === 'hour' ? 60 * MINUTE_MS : DAY_MS;
  const starts: string[] = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += step) starts.push(new Date(at).toISOString());
  return starts;
}
