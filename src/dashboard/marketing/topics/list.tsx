/** The topics of a tenant. */
import type { Static } from 'typebox';
import type { topicSchema } from '../../../topics/schemas.ts';
import { Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { Form } from '../../frame/forms.tsx';
import { Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { readTopic, TopicFields } from './form.tsx';

type Topics = { data: Static<typeof topicSchema>[]; hasMore: boolean };

export const topicsPage = definePage({
  area: 'tenant',
  path: '/topics',
  menu: { group: 'marketing', label: ({ topics }) => topics.title },
  async show(context) {
    const { api, query, texts, can } = context;
    const page = await api.get<Topics>('/topics', pageQueryOf(query, []));
    return {
      title: texts.topics.title,
      body: (
        <>
          <Heading title={texts.topics.title} />
          <TopicTable context={context} topics={page.data} />
          <Pager context={context} page={page} />
          {can('write') && (
            <section aria-labelledby="create">
              <h2 id="create">{texts.topics.create}</h2>
              <Form context={context} action="create" submit={texts.topics.create}>
                <TopicFields context={context} action="create" />
              </Form>
            </section>
          )}
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: ['name', 'defaultOptIn'],
      async run({ api, at }, form) {
        await api.post('/topics', readTopic(form));
        return { to: at('/topics'), said: 'created' };
      },
    },
  },
});

function TopicTable({ context, topics: rows }: { context: TenantContext; topics: Topics['data'] }) {
  const { topics, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={topics.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={topics.none}
      columns={[
        {
          label: topics.name,
          cell: ({ id, name }) => (
            <a href={context.at(`/topics/${id}`)}>
              <Foreign text={name} />
            </a>
          ),
        },
        { label: topics.description, cell: ({ description }) => <Foreign text={description} /> },
        {
          label: topics.isDefault,
          cell: ({ defaultOptIn }) => (
            <Status tone={defaultOptIn ? 'good' : 'neutral'}>{defaultOptIn ? frame.yes : frame.no}</Status>
          ),
        },
        { label: topics.created, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}
