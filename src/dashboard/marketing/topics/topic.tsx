/** A topic: its change and its end. */
import type { Static } from 'typebox';
import { path } from '../../../http/json/calls.ts';
import type { topicSchema } from '../../../topics/schemas.ts';
import { Copyable, Facts, Foreign, Heading, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Form } from '../../frame/forms.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { readTopic, TopicFields } from './form.tsx';

export const topicPage = definePage({
  area: 'tenant',
  path: '/topics/:topicId',
  async show(context) {
    const { api, texts, can } = context;
    const { topics, frame } = texts;
    const topic = await api.get<Static<typeof topicSchema>>(pathOf(context));
    return {
      title: topic.name,
      body: (
        <>
          <Heading title={topic.name} />
          <Facts
            facts={[
              [topics.description, <Foreign key="description" text={topic.description} />],
              [topics.isDefault, topic.defaultOptIn ? frame.yes : frame.no],
              [topics.created, <Time key="created" context={context} at={topic.createdAt} />],
              ['ID', <Copyable key="id" context={context} text={topic.id} />],
            ]}
          />
          {can('write') && (
            <>
              <Form context={context} action="save" submit={frame.save}>
                <TopicFields context={context} action="save" topic={topic} />
              </Form>
              <h2>{topics.deletion}</h2>
              <Disclosure label={topics.deletion} isOpen={context.failed?.action === 'delete'}>
                <p>{topics.deletionText}</p>
                <ActionButton context={context} action="delete" submit={topics.deletion} isDangerous />
              </Disclosure>
            </>
          )}
        </>
      ),
    };
  },
  actions: {
    save: {
      logs: ['name', 'defaultOptIn'],
      async run(context, form) {
        await context.api.patch(pathOf(context), readTopic(form));
        return { to: context.path, said: 'saved' };
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at('/topics'), said: 'deleted' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/topics/${params['topicId'] ?? ''}`;
}
