/** A chart of all reports of one type by day, over the table that has its numbers. */
import type { Static } from 'typebox';
import type { reportSumsSchema } from '../../../mail-reports/reports/schemas.ts';
import { Table } from '../../frame/lists.tsx';
import type { TenantContext } from '../../page.ts';
import type { Report } from './details.tsx';

export type Sums = Static<typeof reportSumsSchema>['data'];

type ByDayProps = { context: TenantContext; type: Report['type']; sums: Sums };

const SECOND_MS = 1000;

/** The chart with its table; nothing without reports of this type. */
export function ByDay({ context, type, sums }: ByDayProps) {
  const { reports } = context.texts;
  const { formats } = context;
  const days = sums.filter((sum) => sum.type === type);
  if (days.length === 0) return null;
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
        rows={days}
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
