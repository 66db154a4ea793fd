/** The numbers of a period: as cards, as charts, and as the table that the charts are drawn from. */
import type { Metrics } from '../../../statistics/schemas.ts';
import { Time } from '../../frame/elements.tsx';
import { Disclosure } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import type { TenantContext } from '../../page.ts';
import { startsOf } from './period.ts';
import {
  BOUNCE_LINE,
  bounceStanding,
  COMPLAINT_LINE,
  complaintStanding,
  MAX_COMPLAINTS,
  type Standing,
} from './rates.ts';

type Props = { context: TenantContext; metrics: Metrics };

const TABLE = 'numbers';
const SECOND_MS = 1000;

/** The totals of a period. */
export function Cards({ context, metrics: { totals } }: Props) {
  const { overview } = context.texts;
  const { number, percent } = context.formats;
  const share = (rate: number | null) => (rate === null ? '' : percent(rate));
  const { rates } = totals;
  const cards: readonly (readonly [string, number, string, Standing])[] = [
    [overview.accepted, totals.accepted, '', 'good'],
    [overview.delivered, totals.delivered, share(rates.delivered), 'good'],
    [overview.bounced, totals.bounced, share(rates.bounced), bounceStanding(totals)],
    [overview.complained, totals.complained, share(rates.complained), complaintStanding(totals)],
    [overview.opened, totals.uniqueOpened, share(rates.opened), 'good'],
    [overview.clicked, totals.uniqueClicked, share(rates.clicked), 'good'],
  ];
  return (
    <div class="cards">
      {cards.map(([label, value, rate, standing]) => (
        <div key={label} class={standing === 'good' ? 'card' : `card ${standing}`}>
          {label}
          <strong>{number(value)}</strong>
          <small>{rate}</small>
        </div>
      ))}
    </div>
  );
}

/** The charts of a period. Their lines are those of the mailbox providers. */
export function Charts({ context, metrics }: Props) {
  const { overview } = context.texts;
  return (
    <section>
      <h2>{overview.charts}</h2>
      <Chart title={overview.volume} columns="1 2 3 4" />
      <Chart title={overview.bounceRate} columns="5" lines={[BOUNCE_LINE]} />
      <Chart title={overview.complaintRate} columns="6" lines={[COMPLAINT_LINE, MAX_COMPLAINTS]} />
      <Disclosure label={overview.asTable}>
        <Numbers context={context} metrics={metrics} />
      </Disclosure>
    </section>
  );
}

type ChartProps = { title: string; columns: string; lines?: readonly number[] };

/** A chart of columns of the table. One with lines shows shares. */
function Chart({ title, columns, lines }: ChartProps) {
  return (
    <figure class="drawn">
      <figcaption>{title}</figcaption>
      <div
        class="chart"
        data-chart={TABLE}
        data-columns={columns}
        data-lines={lines?.join(' ')}
        data-unit={lines && 'percent'}
      />
    </figure>
  );
}

/** Counts of an hour or a day without events. */
const NOTHING = {
  accepted: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  rates: { bounced: 0, complained: 0 },
};

function Numbers({ context, metrics }: Props) {
  const { overview } = context.texts;
  const { number, percent } = context.formats;
  const counted = new Map(metrics.data.map((span) => [span.start, span]));
  const rows = startsOf(metrics).map((start) => ({ ...NOTHING, ...counted.get(start), start }));
  type Numbered = (typeof rows)[number];
  const column = (label: string, read: (row: Numbered) => number, show: (value: number) => string) => ({
    label,
    isNumeric: true,
    cell: (row: Numbered) => <span data-value={read(row)}>{show(read(row))}</span>,
  });
  return (
    <Table
      context={context}
      id={TABLE}
      caption={overview.charts}
      rows={rows}
      keyOf={({ start }) => start}
      columns={[
        {
          label: overview.time,
          cell: ({ start }) => (
            <span data-value={Date.parse(start) / SECOND_MS}>
              <Time context={context} at={start} />
            </span>
          ),
        },
        column(overview.accepted, ({ accepted }) => accepted, number),
        column(overview.delivered, ({ delivered }) => delivered, number),
        column(overview.bounced, ({ bounced }) => bounced, number),
        column(overview.complained, ({ complained }) => complained, number),
        column(overview.bounceRate, ({ rates }) => rates.bounced ?? 0, percent),
        column(overview.complaintRate, ({ rates }) => rates.complained ?? 0, percent),
      ]}
    />
  );
}
