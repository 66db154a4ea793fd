/** What other servers report about the mail of a domain: whether it passed DMARC, and whether its connections had TLS. */
import type { Static } from 'typebox';
import type { domainSchema } from '../../../domains/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { Disclosure } from '../../frame/forms.tsx';
import { FilterField, FilterSelect, Filters, Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { createdWithin } from '../../local-time.ts';
import { definePage, type TenantContext } from '../../page.ts';
import { ByDay, type Sums } from './by-day.tsx';
import { Details, type Report } from './details.tsx';

type Reports = { data: Report[]; hasMore: boolean };
type Domain = Static<typeof domainSchema>;

/** Number of reports on a page. */
const PER_PAGE = 20;
/** Types of reports, in their order. */
const TYPES = ['dmarc', 'tls'] as const;

export const reportsPage = definePage({
  area: 'tenant',
  path: '/reports',
  menu: { group: 'receiving', label: ({ reports }) => reports.title },
  async show(context) {
    const { reports } = context.texts;
    const domain = await findDomain(context);
    return {
      title: reports.title,
      hasCharts: true,
      body: (
        <>
          <Heading title={reports.title} />
          <p>{reports.introduction}</p>
          <Filters context={context}>
            <FilterField context={context} name="domain" label={reports.domain} />
            <FilterSelect
              context={context}
              name="type"
              label={reports.type}
              options={TYPES.map((value) => ({ value, label: reports.types[value] }))}
            />
            <FilterField context={context} name="since" label={reports.since} type="date" />
            <FilterField context={context} name="until" label={reports.untilDay} type="date" />
          </Filters>
          {domain ? await reportSection(context, domain) : <NoDomain context={context} />}
        </>
      ),
    };
  },
});

/** Returns the domain that the address of the page names, or else the newest one. */
async function findDomain({ api, query }: TenantContext): Promise<Domain | undefined> {
  const name = query.get('domain')?.trim() ?? '';
  const { data } = await api.get<{ data: Domain[] }>('/domains', { name, limit: 1 });
  return data[0];
}

function NoDomain({ context: { texts, query, at } }: { context: TenantContext }) {
  const { reports, domains } = texts;
  if (query.get('domain')?.trim()) return <p class="empty">{reports.noDomain}</p>;
  return (
    <p class="empty">
      {reports.noDomains} <a href={at('/domains')}>{domains.title}</a>
    </p>
  );
}

async function reportSection(context: TenantContext, { id, name }: Domain) {
  const { api, formats } = context;
  const period = createdWithin(context.query, formats.timeZone);
  const query = { ...pageQueryOf(context.query, ['type']), ...period };
  const [page, sums] = await Promise.all([
    api.get<Reports>(path`/domains/${id}/reports`, { ...query, limit: PER_PAGE }),
    api.get<{ data: Sums }>(path`/domains/${id}/reports/days`, { type: query['type'], ...period }),
  ]);
  return (
    <section aria-labelledby="domain">
      <h2 id="domain">
        <Foreign text={name} />
      </h2>
      {TYPES.map((type) => (
        <ByDay key={type} context={context} type={type} sums={sums.data} />
      ))}
      <ReportTable context={context} reports={page.data} />
      <Pager context={context} page={page} />
    </section>
  );
}

function ReportTable({ context, reports: rows }: { context: TenantContext; reports: readonly Report[] }) {
  const { reports } = context.texts;
  const { formats } = context;
  return (
    <Table
      context={context}
      caption={reports.caption}
      rows={rows}
      keyOf={({ id }) => id}
      empty={reports.none}
      columns={[
        { label: reports.reporter, cell: ({ organization }) => <Foreign text={organization} /> },
        { label: reports.type, cell: ({ type }) => reports.types[type] },
        { label: reports.from, cell: ({ periodStart }) => <Time context={context} at={periodStart} /> },
        { label: reports.until, cell: ({ periodEnd }) => <Time context={context} at={periodEnd} /> },
        { label: reports.passed, cell: ({ passed }) => formats.number(passed), isNumeric: true },
        { label: reports.failed, cell: ({ failed }) => formats.number(failed), isNumeric: true },
        {
          label: reports.details,
          cell: (report) => (
            <Disclosure label={reports.details}>
              <Details context={context} report={report} />
            </Disclosure>
          ),
        },
      ]}
    />
  );
}
