/** A segment: its rules, the number of its contacts on demand, and its end. */
import { path } from '../../../http/json/calls.ts';
import { Copyable, Facts, Foreign, Heading, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import type { Audience } from '../audiences/list.tsx';
import type { BuilderProps } from './builder.tsx';
import { formActions, type Segment, segmentForm } from './form-page.tsx';
import { askAbout } from './refusal.ts';
import { filterOf, readState, stateOf } from './rules.ts';

const changes = formActions(showSegment, async (context) => (await getSegment(context)).audienceId);

export const segmentPage = definePage({
  area: 'tenant',
  path: '/segments/:segmentId',
  show: (context) => showSegment(context),
  actions: {
    add: changes.add,
    remove: changes.remove,
    count: changes.count,
    save: {
      logs: ['name'],
      async run(context, form) {
        const state = readState(form);
        const change = { name: fieldOf(form, 'name').trim(), filter: filterOf(state) };
        await askAbout(context, state, context.api.patch(pathOf(context), change));
        return { to: context.path, said: 'saved' };
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at('/segments'), said: 'deleted' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/segments/${params['segmentId'] ?? ''}`;
}

/** The number of contacts is left out, because counting a large audience takes seconds. */
function getSegment(context: TenantContext): Promise<Segment> {
  return context.api.get<Segment>(pathOf(context), { count: false });
}

async function showSegment(context: TenantContext, entered?: Pick<BuilderProps, 'name' | 'state' | 'count'>) {
  const { api, texts, at, can } = context;
  const { segments } = texts;
  const segment = await getSegment(context);
  const { id, name, filter, audienceId, createdAt } = segment;
  const audience = await api.get<Audience>(path`/audiences/${audienceId}`);
  return {
    title: name,
    body: (
      <>
        <Heading title={name}>
          <a href={at(`/segments/${id}/contacts`)}>{segments.seeContacts}</a>
          {can('write') && <a href={at(`/broadcasts/new?segmentId=${id}`)}>{segments.newBroadcast}</a>}
        </Heading>
        <Facts
          facts={[
            [
              segments.audience,
              <a key="audience" href={at(`/audiences/${audienceId}`)}>
                <Foreign text={audience.name} />
              </a>,
            ],
            [segments.created, <Time key="created" context={context} at={createdAt} />],
            ['ID', <Copyable key="id" context={context} text={id} />],
          ]}
        />
        {can('write') ? (
          <>
            {await segmentForm(context, entered ?? { name, state: stateOf(filter) })}
            <h2>{segments.deletion}</h2>
            <Disclosure label={segments.deletion} isOpen={context.failed?.action === 'delete'}>
              <p>{segments.deletionText}</p>
              <ActionButton context={context} action="delete" submit={segments.deletion} isDangerous />
            </Disclosure>
          </>
        ) : (
          <pre>{JSON.stringify(filter, undefined, 2)}</pre>
        )}
      </>
    ),
  };
}
