/** The tenants of the installation, each with its plan and its state. */
import type { showTenant } from '../../tenants/admin-schemas.ts';
import { Copyable, Foreign, Heading, Time } from '../frame/elements.tsx';
import { Table } from '../frame/lists.tsx';
import { definePage } from '../page.ts';

export const tenantsPage = definePage({
  area: 'operator',
  path: '/tenants',
  menu: { group: 'operating', label: ({ tenants }) => tenants.title },
  async show(context) {
    const { operator, texts } = context;
    const rows = await operator.get<ReturnType<typeof showTenant>[]>('/tenants');
    const { tenants } = texts;
    return {
      title: tenants.title,
      body: (
        <>
          <Heading title={tenants.title} />
          <Table
            context={context}
            caption={tenants.title}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { label: tenants.name, cell: ({ name }) => <Foreign text={name} /> },
              { label: tenants.id, cell: ({ id }) => <Copyable context={context} text={id} /> },
              { label: tenants.plan, cell: ({ plan }) => plan },
              {
                label: tenants.createdAt,
                cell: ({ createdAt }) => <Time context={context} at={createdAt} />,
              },
            ]}
          />
        </>
      ),
    };
  },
});
