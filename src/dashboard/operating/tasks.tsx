/** Background work that has failed for good, which the operator runs again or discards. */
import type { FailedTasks } from '../../tasks/admin-api.ts';
import { path } from '../calls.ts';
import { Foreign, Heading } from '../frame/elements.tsx';
import { ActionButton, Disclosure } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';

type Context = Contexts['operator'];
type Task = FailedTasks['tasks'][number];

/** Maximum number of tasks on the page, which stays within 100 kB. */
const MAX_LISTED = 30;

export const tasksPage = definePage({
  area: 'operator',
  path: '/tasks',
  menu: { group: 'operating', label: ({ tasks }) => tasks.title },
  async show(context) {
    const { operator, formats, texts } = context;
    const { tasks } = texts;
    const { tasks: failed } = await operator.get<FailedTasks>('/tasks');
    return {
      title: tasks.title,
      body: (
        <>
          <Heading title={tasks.title} />
          <p>{tasks.text}</p>
          <Table
            context={context}
            caption={tasks.title}
            rows={failed.slice(0, MAX_LISTED)}
            keyOf={({ kind, reference }) => `${kind} ${reference}`}
            empty={tasks.none}
            columns={[
              { label: tasks.kind, cell: ({ kind }) => <code>{kind}</code> },
              { label: tasks.reference, cell: ({ reference }) => <Foreign text={reference} /> },
              { label: tasks.tenant, cell: ({ tenantId }) => tenantId && <code>{tenantId}</code> },
              { label: tasks.attempts, isNumeric: true, cell: (task) => formats.number(task.attempts) },
              { label: tasks.error, cell: ({ error }) => <Foreign text={error} /> },
              { label: texts.frame.actions, cell: (task) => <Actions context={context} task={task} /> },
            ]}
          />
          {failed.length > MAX_LISTED && <p>{tasks.more(formats.number(MAX_LISTED))}</p>}
        </>
      ),
    };
  },
  actions: {
    retry: {
      logs: ['kind', 'reference'],
      async run({ operator, path: here }, form) {
        await operator.post(`${taskPath(fieldOf(form, 'kind'), fieldOf(form, 'reference'))}/retry`);
        return { to: here, said: 'taskRetried' };
      },
    },
    discard: {
      logs: ['kind', 'reference'],
      async run({ operator, path: here }, form) {
        await operator.delete(taskPath(fieldOf(form, 'kind'), fieldOf(form, 'reference')));
        return { to: here, said: 'deleted' };
      },
    },
  },
});

function taskPath(kind: string, reference: string): string {
  return path`/tasks/${kind}/${reference}`;
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
