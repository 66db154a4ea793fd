/** Shows a report, with its totals and rates. */
import type { CountedSpan, Counts } from '../counts/store.ts';
import { COUNTERS } from '../counts/tally.ts';
import { isoTime } from '../system/clock.ts';
import type { ReportQuery } from './query.ts';
import { addTo } from './report.ts';
import type { Metrics } from './schemas.ts';

/** Returns the report as the API shows it. */
export function showReport(
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
