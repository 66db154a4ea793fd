/** The audiences of a tenant. */
import type { Static } from 'typebox';
import type { audienceSchema } from '../../../audiences/schemas.ts';
import { Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { Field, Form } from '../../frame/forms.tsx';
import { Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';

export type Audience = Static<typeof audienceSchema>;
type Audiences = { data: Audience[]; hasMore: boolean };

export const audiencesPage = definePage({
  area: 'tenant',
  path: '/audiences',
  menu: { group: 'marketing', label: ({ audiences }) => audiences.title },
  async show(context) {
    const { api, query, texts, can } = context;
    const page = await api.get<Audiences>('/audiences', pageQueryOf(query, []));
    return {
      title: texts.audiences.title,
      body: (
        <>
          <Heading title={texts.audiences.title} />
          <AudienceTable context={context} audiences={page.data} />
          <Pager context={context} page={page} />
          {can('write') && <NewAudience context={context} />}
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: ['name'],
      async run({ api, at }, form) {
        const { id } = await api.post<Audience>('/audiences', { name: fieldOf(form, 'name') });
        return { to: at(`/audiences/${id}`), said: 'created' };
      },
    },
  },
});

function AudienceTable({ context, audiences: rows }: { context: TenantContext; audiences: Audience[] }) {
  const { texts, formats, at } = context;
  const { audiences, frame } = texts;
  return (
    <Table
      context={context}
      caption={audiences.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={audiences.none}
      columns={[
        {
          label: audiences.name,
          cell: ({ id, name }) => (
            <a href={at(`/audiences/${id}`)}>
              <Foreign text={name} />
            </a>
          ),
        },
        {
          label: audiences.contacts,
          cell: ({ contactCount }) => formats.number(contactCount),
          isNumeric: true,
        },
        {
          label: audiences.optIn,
          cell: ({ optIn }) => (
            <Status tone={optIn ? 'good' : 'neutral'}>{optIn ? frame.yes : frame.no}</Status>
          ),
        },
        { label: audiences.created, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}

function NewAudience({ context }: { context: TenantContext }) {
  const { audiences } = context.texts;
  return (
    <section aria-labelledby="create">
      <h2 id="create">{audiences.create}</h2>
      <Form context={context} action="create" submit={audiences.create}>
        <Field context={context} action="create" name="name" label={audiences.name} isRequired />
      </Form>
    </section>
  );
}
