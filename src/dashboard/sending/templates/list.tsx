/** The templates of a tenant. */
import type { Static } from 'typebox';
import type { pageSchema } from '../../../http/json/page.ts';
import type { templateSummarySchema } from '../../../templates/schemas.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { FilterField, Filters, Pager, readList, Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';

type Templates = Static<ReturnType<typeof pageSchema<typeof templateSummarySchema>>>;

export const templatesPage = definePage({
  area: 'tenant',
  path: '/templates',
  menu: { group: 'sending', label: ({ templates }) => templates.title },
  async show(context) {
    const { templates, frame } = context.texts;
    const { page, refusal } = await readList<Templates>(context, '/templates', ['name']);
    return {
      title: templates.title,
      body: (
        <>
          <Heading title={templates.title}>
            {context.can('write') && (
              <a class="button" href={context.at('/templates/new')}>
                {templates.create}
              </a>
            )}
          </Heading>
          <Filters context={context} refusal={refusal}>
            <FilterField context={context} name="name" label={templates.exactName} />
          </Filters>
          <Table
            context={context}
            caption={templates.title}
            rows={page.data}
            keyOf={({ id }) => id}
            empty={context.query.size > 0 ? frame.noMatch : templates.none}
            columns={[
              {
                label: templates.name,
                cell: ({ id, name }) => (
                  <a href={context.at(`/templates/${id}`)}>
                    <Foreign text={name} />
                  </a>
                ),
              },
              { label: templates.subject, cell: ({ subject }) => <Foreign text={subject} /> },
              {
                label: templates.updatedAt,
                cell: ({ updatedAt }) => <Time context={context} at={updatedAt} />,
              },
              {
                label: templates.createdAt,
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
