/** A new segment of an audience. */
import { path } from '../../../http/json/calls.ts';
import { Foreign, Heading } from '../../frame/elements.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import type { Audience } from '../audiences/list.tsx';
import type { BuilderProps } from './builder.tsx';
import { formActions, type Segment, segmentForm } from './form-page.tsx';
import { askAbout } from './refusal.ts';
import { filterOf, NO_RULE, readState } from './rules.ts';

const EMPTY = { name: '', state: { kind: 'rules', op: 'and', rules: [NO_RULE] } } as const;

const changes = formActions(showForm, async ({ params }) => params['audienceId'] ?? '');

export const newSegmentPage = definePage({
  area: 'tenant',
  path: '/audiences/:audienceId/segments/new',
  needs: 'write',
  show: (context) => showForm(context, EMPTY),
  actions: {
    add: changes.add,
    remove: changes.remove,
    count: changes.count,
    save: {
      logs: ['name'],
      async run(context, form) {
        const { api, at, params } = context;
        const state = readState(form);
        const created = api.post<Segment>('/segments', {
          name: fieldOf(form, 'name').trim(),
          audienceId: params['audienceId'],
          filter: filterOf(state),
        });
        const { id } = await askAbout(context, state, created);
        return { to: at(`/segments/${id}`), said: 'created' };
      },
    },
  },
});

async function showForm(context: TenantContext, entered: Pick<BuilderProps, 'name' | 'state' | 'count'>) {
  const { api, params, texts, at } = context;
  const audience = await api.get<Audience>(path`/audiences/${params['audienceId'] ?? ''}`);
  return {
    title: texts.segments.create,
    body: (
      <>
        <Heading title={texts.segments.create} />
        <p>
          {texts.segments.audience}:{' '}
          <a href={at(`/audiences/${audience.id}`)}>
            <Foreign text={audience.name} />
          </a>
        </p>
        {await segmentForm(context, entered)}
      </>
    ),
  };
}
