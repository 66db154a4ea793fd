/** The routes of outgoing mail: through relays, or to the MX hosts of domains. */

import { path } from '../../../http/json/calls.ts';
import type { ShownRoutes } from '../../../outbound-routes/admin-api.ts';
import type { ShownRoute } from '../../../outbound-routes/admin-schemas.ts';
import type { RelayCheck } from '../../../outbound-routes/check-relay.ts';
import type { PortProbe } from '../../../outbound-routes/port-probe.ts';
import type { Removed } from '../../../outbound-routes/store.ts';
import { Foreign, Heading } from '../../frame/elements.tsx';
import { ActionButton, Disclosure } from '../../frame/forms.tsx';
import { FilterField, Filters, NextPager, Table } from '../../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../../page.ts';
import { aboutOwner, aboutTenant } from '../find-tenant.ts';
import { TenantLink } from '../tenant-link.tsx';
import { probeView, relayView } from './checks.tsx';
import { RouteForm, readRoute } from './form.tsx';

type Context = Contexts['operator'];

/** Number of routes on a page, which stays within 100 kB. */
const PAGE_SIZE = 30;

export const outboundRoutesPage = definePage({
  area: 'operator',
  path: '/outbound-routes',
  menu: { group: 'operating', label: ({ outboundRoutes }) => outboundRoutes.title },
  async show(context) {
    const { operator, query } = context;
    const { outboundRoutes: texts } = context.texts;
    const name = (query.get('name') ?? '').trim();
    const asked = { name, limit: PAGE_SIZE, after: query.get('after') ?? '' };
    const { routes, next } = await operator.get<ShownRoutes>('/outbound-routes', asked);
    const isShort = query.size === 0 && next === null;
    return {
      title: texts.title,
      body: (
        <>
          <Heading title={texts.title} />
          <p>{texts.text}</p>
          {!isShort && (
            <Filters context={context}>
              <FilterField context={context} name="name" label={texts.name} />
            </Filters>
          )}
          <RouteTable context={context} routes={routes} />
          <NextPager context={context} next={next} />
          <Disclosure label={texts.save} isOpen={context.failed?.action === 'save'}>
            <RouteForm context={context} />
          </Disclosure>
          <h2>{texts.probe}</h2>
          <p>{texts.probeText}</p>
          <ActionButton context={context} action="probe" submit={texts.probe} />
        </>
      ),
    };
  },
  actions: {
    save: {
      logs: [
        'name',
        'tenant',
        'domain',
        'hosts',
        'port',
        'tls',
        'tlsName',
        'tlsPolicy',
        'private',
        'connections',
        'recipientsPerMinute',
      ],
      async run({ operator, path: here }, form) {
        const saved = await operator.put<ShownRoute>(
          path`/outbound-routes/${fieldOf(form, 'name').trim()}`,
          readRoute(form),
        );
        return { to: here, said: 'saved', acted: await aboutTenant(operator, saved.tenantId ?? undefined) };
      },
    },
    remove: {
      logs: ['name'],
      async run({ operator, path: here }, form) {
        const name = fieldOf(form, 'name');
        const removed = await operator.delete<Removed>(path`/outbound-routes/${name}`);
        return { to: here, said: 'deleted', acted: aboutOwner(removed) };
      },
    },
    check: {
      isAudited: false,
      async run(context, form) {
        const address = `${path`/outbound-routes/${fieldOf(form, 'name')}`}/check`;
        const found = await context.operator.post<{ name: string; hosts: RelayCheck[] }>(address);
        return relayView(context, found);
      },
    },
    probe: {
      isAudited: false,
      run: async (context) => probeView(context, await context.operator.post<PortProbe>('/port-probe')),
    },
  },
});

function RouteTable({ context, routes }: { context: Context; routes: readonly ShownRoute[] }) {
  const { outboundRoutes: texts, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={texts.title}
      rows={routes}
      keyOf={({ name }) => name}
      empty={context.query.size > 0 ? frame.noMatch : texts.none}
      columns={[
        { label: texts.name, cell: ({ name }) => <code>{name}</code> },
        {
          label: texts.tenant,
          cell: ({ tenantId }) => (tenantId === null ? texts.everybody : <TenantLink id={tenantId} />),
        },
        { label: texts.domain, cell: ({ domain }) => <Foreign text={domain ?? texts.everybody} /> },
        { label: texts.goesTo, cell: (route) => <Foreign text={goalOf(context, route)} /> },
        { label: texts.user, cell: ({ relay }) => <Foreign text={relay?.user} /> },
        { label: texts.limits, cell: ({ relay }) => relay && limitsOf(context, relay) },
        { label: texts.source, cell: ({ source }) => texts.sources[source] },
        { label: frame.actions, cell: (route) => <Actions context={context} route={route} /> },
      ]}
    />
  );
}

type Relay = NonNullable<ShownRoute['relay']>;

function goalOf({ texts: { outboundRoutes: texts } }: Context, { relay, tlsPolicy }: ShownRoute): string {
  if (!relay) return tlsPolicy === null ? texts.mx : texts.mxWith(texts.tlsPolicies[tlsPolicy]);
  return texts.portOf(relay.hosts.join(', '), String(relay.port), texts.tlsKinds[relay.tls]);
}

function limitsOf({ formats, texts }: Context, relay: Relay): string {
  const limits = (['connections', 'recipientsPerMinute'] as const).flatMap((name) => {
    const limit = relay[name];
    return limit === null ? [] : [texts.outboundRoutes.limitOf[name](formats.number(limit))];
  });
  return limits.join(', ');
}

function Actions({ context, route: { name, relay, source } }: { context: Context; route: ShownRoute }) {
  const { outboundRoutes: texts } = context.texts;
  const button = { context, fields: { name } };
  return (
    <>
      {relay && (
        <ActionButton {...button} action="check" submit={texts.check} label={`${texts.check}: ${name}`} />
      )}
      {source === 'stored' && (
        <Disclosure label={texts.remove}>
          <p>{texts.removeText}</p>
          <ActionButton
            {...button}
            action="remove"
            submit={texts.remove}
            label={`${texts.remove}: ${name}`}
            isDangerous
          />
        </Disclosure>
      )}
    </>
  );
}
