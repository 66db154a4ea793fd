/** A chart of the reports of one type by day, over the table that has its numbers. */
import { Table } from '../../frame/lists.tsx';
import type { TenantContext } from '../../page.ts';
import type { Report } from './details.tsx';

type ByDayProps = { context: TenantContext; type: Report['type']; reports: readonly Report[] };
type Day = { day: string; passed: number; failed: number };

const SECOND_MS = 1000;
const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

/** Sums the reports of each day, in UTC, in which they begin. */
function daysOf(reports: readonly Report[]): Day[] {
  const byDay = Map.groupBy(reports, ({ periodStart }) => periodStart.slice(0, DAY_CHARACTERS));
  return [...byDay]
    .map(([day, all]) => ({
      day,
      passed: all.reduce((sum, { passed }) => sum + passed, 0),
      failed: all.reduce((sum, { failed }) => sum + failed, 0),
    }))
    .sort((one, other) => (one.day < other.day ? -1 : 1));
}

/** The chart with its table; nothing without reports of this type. */
export function ByDay({ context, type, reports: all }: ByDayProps) {
  const { reports } = context.texts;
  const { formats } = context;
  if (all.length === 0) return null;
  const id = `${type}-by-day`;
  const value = (number: number) => <span data-value={number}>{formats.number(number)}</span>;
  return (
    <>
      <h3>{reports.byDay[type]}</h3>
      <div class="chart" data-chart={id} />
      <Table
        context={context}
        id={id}
        caption={reports.byDay[type]}
        rows={daysOf(all)}
        keyOf={({ day }) => day}
        columns={[
          {
            label: reports.day,
            cell: ({ day }) => <span data-value={Date.parse(day) / SECOND_MS}>{day}</span>,
          },
          { label: reports.passed, cell: ({ passed }) => value(passed), isNumeric: true },
          { label: reports.failed, cell: ({ failed }) => value(failed), isNumeric: true },
        ]}
      />
    </>
  );
}
