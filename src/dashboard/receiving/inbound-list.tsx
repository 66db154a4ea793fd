/** The messages that arrived for the routes of a tenant, the newest first. Mail for mailboxes alone is not among them. */
import type { Static } from 'typebox';
import type { Calls } from '../../http/json/calls.ts';
import type { receivedSummarySchema } from '../../routes/messages/schemas.ts';
import { Foreign, Heading, Status, Time } from '../frame/elements.tsx';
import { FilterById, FilterField, Filters, MAX_OFFERED, Pager, pageQueryOf, Table } from '../frame/lists.tsx';
import { definePage } from '../page.ts';
import type { Routes } from './routes.tsx';

type Messages = { data: Static<typeof receivedSummarySchema>[]; hasMore: boolean };

export const inboundPage = definePage({
  area: 'tenant',
  path: '/inbound',
  menu: { group: 'receiving', label: ({ inbound }) => inbound.title },
  async show(context) {
    const { api, query, texts, formats } = context;
    const { inbound, frame } = texts;
    const page = await api.get<Messages>(
      '/inbound/messages',
      pageQueryOf(query, ['address', 'from', 'routeId']),
    );
    return {
      title: inbound.title,
      body: (
        <>
          <Heading title={inbound.title}>
            <a href={context.at('/routes')}>{texts.routes.title}</a>
          </Heading>
          <Filters context={context}>
            <FilterField context={context} name="address" label={inbound.to} />
            <FilterField context={context} name="from" label={inbound.fromFilter} />
            <FilterById
              context={context}
              name="routeId"
              label={texts.routes.route}
              idLabel={inbound.routeId}
              things={await listRoutes(api)}
            />
          </Filters>
          <Table
            context={context}
            caption={inbound.title}
            rows={page.data}
            keyOf={({ id }) => id}
            empty={query.size > 0 ? frame.noMatch : inbound.none}
            columns={[
              {
                label: inbound.subject,
                cell: ({ id, subject }) => (
                  <a href={context.at(`/inbound/${id}`)}>
                    <Foreign text={subject || inbound.noSubject} />
                  </a>
                ),
              },
              { label: inbound.from, cell: ({ from }) => <Foreign text={from} /> },
              { label: inbound.to, cell: ({ to }) => <Foreign text={to.join(', ')} /> },
              {
                label: inbound.spam,
                cell: ({ flagged }) => flagged && <Status tone="warning">{inbound.flagged}</Status>,
              },
              { label: inbound.size, cell: ({ size }) => formats.bytes(size), isNumeric: true },
              { label: inbound.at, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
            ]}
          />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});

/** Returns the routes by their addresses; undefined when there are many. */
async function listRoutes(api: Calls) {
  const { data, hasMore } = await api.get<Routes>('/inbound/routes', { limit: MAX_OFFERED });
  return hasMore ? undefined : data.map(({ id, address }) => ({ value: id, label: address }));
}
