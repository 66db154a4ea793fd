/** Background work that has failed for good, which the operator runs again or discards. */

import { path } from '../../http/json/calls.ts';
import type { Form } from '../../http/pages/form-body.ts';
import type { FailedTasks } from '../../tasks/admin-api.ts';
import type { TaskOwner } from '../../tasks/store.ts';
import { Foreign, Heading } from '../frame/elements.tsx';
import { ActionButton, Disclosure } from '../frame/forms.tsx';
import { NextPager, Table } from '../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { aboutOwner } from './find-tenant.ts';
import { TaskKind } from './task-kind.tsx';
import { TenantLink } from './tenant-link.tsx';

type Context = Contexts['operator'];
type Task = FailedTasks['tasks'][number];

/** Number of tasks on a page, which stays within 100 kB. */
const PAGE_SIZE = 30;

export const tasksPage = definePage({
  area: 'operator',
  path: '/tasks',
  menu: { group: 'operating', label: ({ tasks }) => tasks.title },
  async show(context) {
    const { operator, formats, query, texts } = context;
    const { tasks } = texts;
    const asked = { limit: PAGE_SIZE, after: query.get('after') ?? '' };
    const { tasks: failed, next } = await operator.get<FailedTasks>('/tasks', asked);
    return {
      title: tasks.title,
      body: (
        <>
          <Heading title={tasks.title} />
          <p>{tasks.text}</p>
          <Table
            context={context}
            caption={tasks.title}
            rows={failed}
            keyOf={({ kind, reference }) => `${kind} ${reference}`}
            empty={tasks.none}
            columns={[
              { label: tasks.kind, cell: ({ kind }) => <TaskKind context={context} kind={kind} /> },
              { label: tasks.reference, cell: ({ reference }) => <Foreign text={reference} /> },
              { label: tasks.tenant, cell: ({ tenantId }) => tenantId && <TenantLink id={tenantId} /> },
              { label: tasks.attempts, isNumeric: true, cell: (task) => formats.number(task.attempts) },
              { label: tasks.error, cell: ({ error }) => <Foreign text={error} /> },
              { label: texts.frame.actions, cell: (task) => <Actions context={context} task={task} /> },
            ]}
          />
          <NextPager context={context} next={next} />
        </>
      ),
    };
  },
  actions: {
    retry: {
      logs: ['kind', 'reference'],
      async run({ operator, path: here }, form) {
        const owner = await operator.post<TaskOwner>(`${taskPath(form)}/retry`);
        return { to: here, said: 'taskRetried', acted: aboutOwner(owner) };
      },
    },
    discard: {
      logs: ['kind', 'reference'],
      async run({ operator, path: here }, form) {
        const owner = await operator.delete<TaskOwner>(taskPath(form));
        return { to: here, said: 'deleted', acted: aboutOwner(owner) };
      },
    },
  },
});

function taskPath(form: Form): string {
  return path`/tasks/${fieldOf(form, 'kind')}/${fieldOf(form, 'reference')}`;
}

function Actions({ context, task: { kind, reference } }: { context: Context; task: Task }) {
  const { tasks } = context.texts;
  const button = { context, fields: { kind, reference } };
  const about = `${kind} ${reference}`;
  return (
    <>
      <ActionButton {...button} action="retry" submit={tasks.retry} label={`${tasks.retry}: ${about}`} />
      <Disclosure label={tasks.discard}>
        <p>{tasks.discardText}</p>
        <ActionButton
          {...button}
          action="discard"
          submit={tasks.discard}
          label={`${tasks.discard}: ${about}`}
          isDangerous
        />
      </Disclosure>
    </>
  );
}
