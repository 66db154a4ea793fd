/** The domains of a tenant, with their status. */
import { Foreign, Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { FilterField, FilterSelect, Filters, Pager, readList, Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import type { Domain, Domains } from './choice.tsx';

/** Colours of the states of a domain and of its records. */
export const DOMAIN_TONES: Record<Domain['status'], Tone> = {
  pending: 'neutral',
  verified: 'good',
  failed: 'bad',
  temporary_failure: 'warning',
};

export const domainsPage = definePage({
  area: 'tenant',
  path: '/domains',
  menu: { group: 'sending', label: ({ domains }) => domains.title },
  async show(context) {
    const { domains, frame } = context.texts;
    const { page, refusal } = await readList<Domains>(context, '/domains', ['status', 'name']);
    const options = Object.entries(domains.statuses).map(([value, label]) => ({ value, label }));
    return {
      title: domains.title,
      body: (
        <>
          <Heading title={domains.title}>
            {context.can('write') && (
              <a class="button" href={context.at('/domains/new')}>
                {domains.add}
              </a>
            )}
          </Heading>
          <Filters context={context} refusal={refusal}>
            <FilterSelect context={context} name="status" label={domains.status} options={options} />
            <FilterField context={context} name="name" label={domains.name} />
          </Filters>
          <Table
            context={context}
            caption={domains.title}
            rows={page.data}
            keyOf={({ id }) => id}
            empty={context.query.size > 0 ? frame.noMatch : domains.none}
            columns={[
              {
                label: domains.name,
                cell: ({ id, name }) => (
                  <a href={context.at(`/domains/${id}`)}>
                    <Foreign text={name} />
                  </a>
                ),
              },
              {
                label: domains.status,
                cell: ({ status }) => <Status tone={DOMAIN_TONES[status]}>{domains.statuses[status]}</Status>,
              },
              { label: domains.productType, cell: ({ productType }) => domains.productTypes[productType] },
              { label: domains.region, cell: ({ region }) => region },
              {
                label: domains.verifiedAt,
                cell: ({ verifiedAt }) => <Time context={context} at={verifiedAt} />,
              },
              {
                label: domains.createdAt,
                cell: ({ createdAt }) => <Time context={context} at={createdAt} />,
              },
            ]}
          />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});
