/** The page of the actions of operators on the queue: holds and reroutes in force, and the newest actions with how far they have come. */
import type { ShownActions } from '../../../queue/control/admin-api.ts';
import type { ShownAction } from '../../../queue/control/show.ts';
import { countText } from '../../frame/counted.ts';
import { Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { NextPager, Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import { changePath, type OperatorContext, Selected } from './criteria.tsx';
import { QueueTabs } from './tabs.tsx';

export const queueActionsPage = definePage({
  area: 'operator',
  path: '/queue/actions',
  async show(context) {
    const { operator, path, query, texts } = context;
    const { queue } = texts;
    const asked = { after: query.get('after') ?? '' };
    const { actions, next } = await operator.get<ShownActions>('/queue/actions', asked);
    return {
      title: queue.actions,
      body: (
        <>
          <Heading title={queue.actions}>
            <a href={path}>{queue.refresh}</a>
          </Heading>
          <QueueTabs context={context} />
          <p>{queue.actionsText}</p>
          <ActionTable context={context} actions={actions} />
          <NextPager context={context} next={next} />
        </>
      ),
    };
  },
});

/** A table of actions; a hold in force has a link to release its mail. */
export function ActionTable({
  context,
  actions,
}: {
  context: OperatorContext;
  actions: readonly ShownAction[];
}) {
  const { queue, frame } = context.texts;
  const { number } = context.formats;
  return (
    <Table
      context={context}
      caption={queue.actions}
      rows={actions}
      keyOf={({ id }) => id}
      empty={queue.noActions}
      columns={[
        { label: queue.verb, cell: ({ verb }) => queue.verbs[verb] },
        { label: queue.what, cell: (action) => <Selected context={context} action={action} /> },
        { label: queue.target, cell: ({ target }) => <Foreign text={target} /> },
        {
          label: queue.progress,
          cell: ({ changed, matched }) => queue.progressOf(number(changed), countText(context, matched)),
        },
        { label: queue.actionState, cell: (action) => <ActionState context={context} action={action} /> },
        { label: queue.reason, cell: ({ reason }) => <Foreign text={reason} /> },
        { label: queue.createdAt, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
        {
          label: frame.actions,
          cell: ({ id, verb, isInForce }) =>
            verb === 'hold' &&
            isInForce && <a href={changePath({ verb: 'release', hold: id })}>{queue.endHold}</a>,
        },
      ]}
    />
  );
}

function ActionState({ context, action }: { context: OperatorContext; action: ShownAction }) {
  const { queue } = context.texts;
  if (action.finishedAt === null) return <Status tone="warning">{queue.running}</Status>;
  return action.isInForce ? <Status tone="warning">{queue.inForce}</Status> : <span>{queue.ended}</span>;
}
