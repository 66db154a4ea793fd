/** The broadcasts of a tenant. */
import type { Static } from 'typebox';
import { type broadcastSummarySchema, STATUSES } from '../../../broadcasts/schemas.ts';
import { Foreign, Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { FilterSelect, Filters, Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import type { Audience } from '../audiences/list.tsx';
import { AudienceFilter, listNewest } from '../choices.tsx';

type Summary = Static<typeof broadcastSummarySchema>;
type Broadcasts = { data: Summary[]; hasMore: boolean };

/** Colours of the states of a broadcast. */
export const BROADCAST_TONES: Record<Summary['status'], Tone> = {
  draft: 'neutral',
  scheduled: 'neutral',
  sending: 'neutral',
  paused: 'warning',
  sent: 'good',
  canceled: 'warning',
  failed: 'bad',
};

export const broadcastsPage = definePage({
  area: 'tenant',
  path: '/broadcasts',
  menu: { group: 'marketing', label: ({ broadcasts }) => broadcasts.title },
  async show(context) {
    const { api, query, texts, at, can } = context;
    const { broadcasts } = texts;
    const page = await api.get<Broadcasts>('/broadcasts', pageQueryOf(query, ['status', 'audienceId']));
    const audiences = await listNewest<Audience>(api, '/audiences');
    const statuses = STATUSES.map((value) => ({ value, label: broadcasts.statuses[value] }));
    return {
      title: broadcasts.title,
      body: (
        <>
          <Heading title={broadcasts.title}>
            {can('write') && <a href={at('/broadcasts/new')}>{broadcasts.create}</a>}
          </Heading>
          <Filters context={context}>
            <FilterSelect context={context} name="status" label={broadcasts.status} options={statuses} />
            <AudienceFilter context={context} audiences={audiences} />
          </Filters>
          <BroadcastTable context={context} broadcasts={page.data} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});

function BroadcastTable({ context, broadcasts: rows }: { context: TenantContext; broadcasts: Summary[] }) {
  const { texts, formats, at, query } = context;
  const { broadcasts, frame } = texts;
  const count = (name: 'recipients' | 'delivered' | 'uniqueOpened' | 'uniqueClicked') => ({
    label: broadcasts.counts[name],
    cell: ({ counts }: Summary) => formats.number(counts[name]),
    isNumeric: true,
  });
  return (
    <Table
      context={context}
      caption={broadcasts.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={query.size > 0 ? frame.noMatch : broadcasts.none}
      columns={[
        {
          label: broadcasts.subject,
          cell: ({ id, subject }) => (
            <a href={at(`/broadcasts/${id}`)}>
              <Foreign text={subject} />
            </a>
          ),
        },
        {
          label: broadcasts.status,
          cell: ({ status }) => <Status tone={BROADCAST_TONES[status]}>{broadcasts.statuses[status]}</Status>,
        },
        ...(['recipients', 'delivered', 'uniqueOpened', 'uniqueClicked'] as const).map(count),
        {
          label: broadcasts.scheduleAt,
          cell: ({ startedAt, scheduleAt }) =>
            startedAt === null && scheduleAt === null ? (
              ''
            ) : (
              <Time context={context} at={startedAt ?? scheduleAt} />
            ),
        },
        { label: broadcasts.created, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}
