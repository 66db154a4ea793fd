/** The tenants of the installation, each with its plan and its state, and the form that creates one. */
import type { Plan, showTenant } from '../../tenants/admin-schemas.ts';
import { Copyable, Foreign, Heading, Status, Time, type Tone } from '../frame/elements.tsx';
import { Field, Form, Select } from '../frame/forms.tsx';
import { FilterField, Filters, Pager, pageQueryOf, Table } from '../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';

export type Tenant = ReturnType<typeof showTenant>;

type Listed = { data: Tenant[]; hasMore: boolean };

/** Number of tenants on a page, which stays within 100 kB. */
const PAGE_SIZE = 50;
const TONES: Record<Tenant['status'], Tone> = { active: 'good', suspended: 'warning', deleting: 'bad' };

export const tenantsPage = definePage({
  area: 'operator',
  path: '/tenants',
  menu: { group: 'operating', label: ({ tenants }) => tenants.title },
  async show(context) {
    const { operator, query, texts } = context;
    const { tenants } = texts;
    const [page, plans] = await Promise.all([
      operator.get<Listed>('/tenants', { ...pageQueryOf(query, ['name']), limit: PAGE_SIZE }),
      operator.get<Plan[]>('/plans'),
    ]);
    const options = plans.map(({ name }) => ({ value: name, label: name }));
    const field = { context, action: 'create', isRequired: true };
    return {
      title: tenants.title,
      body: (
        <>
          <Heading title={tenants.title}>
            <a href="/operator/plans">{tenants.plans}</a>
          </Heading>
          <p>{tenants.text}</p>
          <Filters context={context}>
            <FilterField context={context} name="name" label={tenants.name} />
          </Filters>
          <TenantTable context={context} tenants={page.data} />
          <Pager context={context} page={page} />
          <h2>{tenants.create}</h2>
          <Form context={context} action="create" submit={tenants.create}>
            <Field {...field} name="name" label={tenants.name} />
            <Select {...field} name="plan" label={tenants.plan} value="unlimited" options={options} />
          </Form>
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: ['name', 'plan'],
      async run({ operator }, form) {
        const body = { name: fieldOf(form, 'name'), plan: fieldOf(form, 'plan') };
        const { id } = await operator.post<Tenant>('/tenants', body);
        return { to: `/operator/tenants/${id}`, said: 'created', acted: { tenantId: id } };
      },
    },
  },
});

function TenantTable({
  context,
  tenants: rows,
}: {
  context: Contexts['operator'];
  tenants: readonly Tenant[];
}) {
  const { tenants } = context.texts;
  return (
    <Table
      context={context}
      caption={tenants.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? context.texts.frame.noMatch : undefined}
      columns={[
        {
          label: tenants.name,
          cell: ({ id, name }) => (
            <a href={`/operator/tenants/${id}`}>
              <Foreign text={name} />
            </a>
          ),
        },
        { label: tenants.id, cell: ({ id }) => <Copyable context={context} text={id} /> },
        { label: tenants.plan, cell: ({ plan }) => plan },
        { label: tenants.status, cell: ({ status }) => <TenantStatus context={context} status={status} /> },
        { label: tenants.createdAt, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}

/** The state of a tenant as a word with a colour. */
export function TenantStatus({
  context,
  status,
}: {
  context: Contexts['operator'];
  status: Tenant['status'];
}) {
  return <Status tone={TONES[status]}>{context.texts.tenants.statuses[status]}</Status>;
}
