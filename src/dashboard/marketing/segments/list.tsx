/** The segments of a tenant, or of one of its audiences. */
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { Filters, Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import type { Audience } from '../audiences/list.tsx';
import { AudienceFilter, listNewest } from '../choices.tsx';
import { NoAudiences } from '../no-audiences.tsx';
import type { Segment } from './form-page.tsx';

type Segments = { data: Segment[]; hasMore: boolean };

export const segmentsPage = definePage({
  area: 'tenant',
  path: '/segments',
  menu: { group: 'marketing', label: ({ segments }) => segments.title },
  async show(context) {
    const { api, query, texts, at, can } = context;
    const page = await api.get<Segments>('/segments', pageQueryOf(query, ['audienceId']));
    const audiences = await listNewest<Audience>(api, '/audiences');
    const audienceId = query.get('audienceId') ?? '';
    const { segments } = texts;
    return {
      title: segments.title,
      body: (
        <>
          <Heading title={segments.title}>
            {can('write') && audienceId !== '' && (
              <a href={at(`/audiences/${encodeURIComponent(audienceId)}/segments/new`)}>{segments.create}</a>
            )}
          </Heading>
          {audienceId === '' && audiences.data.length > 0 && <p class="muted">{segments.of}</p>}
          {audiences.data.length === 0 && <NoAudiences context={context} />}
          <Filters context={context}>
            <AudienceFilter context={context} audiences={audiences} />
          </Filters>
          <SegmentTable context={context} segments={page.data} audiences={audiences.data} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});

type TableProps = { context: TenantContext; segments: Segment[]; audiences: readonly Audience[] };

function SegmentTable({ context, segments: rows, audiences }: TableProps) {
  const { texts, at, query } = context;
  const { segments, frame } = texts;
  const names = new Map(audiences.map(({ id, name }) => [id, name]));
  return (
    <Table
      context={context}
      caption={segments.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={query.size > 0 ? frame.noMatch : segments.none}
      columns={[
        {
          label: segments.name,
          cell: ({ id, name }) => (
            <a href={at(`/segments/${id}`)}>
              <Foreign text={name} />
            </a>
          ),
        },
        {
          label: segments.audience,
          cell: ({ audienceId }) => (
            <a href={at(`/audiences/${audienceId}`)}>
              <Foreign text={names.get(audienceId) ?? audienceId} />
            </a>
          ),
        },
        { label: segments.created, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}
