/** The inbound routes of a tenant, which decide which URL gets the mail to an address: the list, and the form for another one. */
import type { Static } from 'typebox';
import type { routeSchema, secretRouteSchema } from '../../routes/schemas.ts';
import { Copyable, Foreign, Heading, Status, Time } from '../frame/elements.tsx';
import { Disclosure, Field, Form } from '../frame/forms.tsx';
import { FilterField, Filters, Pager, pageQueryOf, Table } from '../frame/lists.tsx';
import { definePage, fieldOf, type TenantContext } from '../page.ts';

export type Route = Static<typeof routeSchema>;
export type Routes = { data: Route[]; hasMore: boolean };
type Created = Static<typeof secretRouteSchema>;

export const routesPage = definePage({
  area: 'tenant',
  path: '/routes',
  menu: { group: 'receiving', label: ({ routes }) => routes.title },
  async show(context) {
    const { api, query, texts } = context;
    const { routes, frame } = texts;
    const page = await api.get<Routes>('/inbound/routes', pageQueryOf(query, ['address', 'domain']));
    return {
      title: routes.title,
      body: (
        <>
          <Heading title={routes.title} />
          <p>{routes.introduction}</p>
          {context.can('write') && <NewRoute context={context} />}
          <Filters context={context}>
            <FilterField context={context} name="address" label={routes.address} />
            <FilterField context={context} name="domain" label={routes.domain} />
          </Filters>
          <Table
            context={context}
            caption={routes.title}
            rows={page.data}
            keyOf={({ id }) => id}
            empty={query.size > 0 ? frame.noMatch : routes.none}
            columns={[
              {
                label: routes.address,
                cell: ({ id, address }) => (
                  <a href={context.at(`/routes/${id}`)}>
                    <Foreign text={address} />
                  </a>
                ),
              },
              { label: routes.destination, cell: ({ destination }) => <Foreign text={destination} /> },
              { label: routes.status, cell: (route) => <RouteStatus context={context} route={route} /> },
              { label: routes.createdAt, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
            ]}
          />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: ['address'],
      async run(context, form) {
        const created = await context.api.post<Created>('/inbound/routes', {
          address: fieldOf(form, 'address').trim(),
          destination: fieldOf(form, 'destination').trim(),
        });
        const { routes } = context.texts;
        return {
          title: routes.created,
          body: (
            <>
              <Heading title={routes.created} />
              <p>{routes.secretText}</p>
              <p>
                <Foreign text={created.address} />: <Copyable context={context} text={created.secret} />
              </p>
              <p>
                <a href={context.at(`/routes/${created.id}`)}>{routes.open}</a>
              </p>
            </>
          ),
        };
      },
    },
  },
});

function NewRoute({ context }: { context: TenantContext }) {
  const { routes } = context.texts;
  const field = { context, action: 'create', isRequired: true };
  return (
    <Disclosure label={routes.create} isOpen={context.failed?.action === 'create'}>
      <Form context={context} action="create" submit={routes.create}>
        <Field {...field} name="address" label={routes.address} help={routes.addressHelp} />
        <Field
          {...field}
          name="destination"
          type="url"
          label={routes.destination}
          help={routes.destinationHelp}
        />
      </Form>
    </Disclosure>
  );
}

/** Whether the route is posted to at the moment. */
export function RouteStatus({ context, route }: { context: TenantContext; route: Route }) {
  const { routes } = context.texts;
  const { enabled, disabledReason, failingSince } = route;
  if (!enabled) return <Status tone="bad">{routes.disabledReasons[disabledReason ?? 'manual']}</Status>;
  return failingSince === null ? (
    <Status tone="good">{routes.enabled}</Status>
  ) : (
    <Status tone="warning">{routes.failing}</Status>
  );
}
