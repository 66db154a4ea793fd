/** `postrider task`: shows background work that has failed, runs it again, and discards it. */
import type { Command } from 'commander';
import type { FailedTask } from '../tasks/read-store.ts';
import { readTaskId, taskId } from '../tasks/task-id.ts';
import { confirm } from './confirm.ts';
import { listAction, withControl } from './context.ts';
import { UsageError } from './errors.ts';
import { formatList, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addTaskCommands(program: Command, terminal: Terminal): void {
  const task = program
    .command('task')
    .description('Show background work that has failed, run it again, or discard it.');
  task
    .command('list')
    .description('List the failed tasks of all tenants. The server no longer tries them.')
    .action(
      listAction<FailedTask>(terminal, {
        request: 'GET /tasks',
        name: 'tasks',
        shown: (tasks) => ({ hasMore: false, tasks }),
        text: table,
      }),
    );
  task
    .command('retry')
    .description('Run a failed task again, with as many attempts as a new one.')
    .argument('<id>')
    .action((id: string, _: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        await control.request('POST', `${pathOf(id)}/retry`);
        show({ id }, () => `Task ${id} is due again`);
      }),
    );
  task
    .command('discard')
    .description('Remove a failed task. What it asked for is not done. This cannot be undone.')
    .argument('<id>')
    .option('--yes', 'discard without asking')
    .action((id: string, { yes }: { yes?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = pathOf(id);
        if (!yes) await confirm(terminal, `Discard ${id}? What it asked for is not done.`);
        await control.request('DELETE', path);
        show({ id }, () => `Task ${id} is discarded`);
      }),
    );
}

/** Returns the path of a task by its id, which consists of its kind and its reference. */
function pathOf(id: string): string {
  const { kind, reference } = readTaskId(id);
  if (kind === '' || reference === '')
    throw new UsageError('the id of a task is KIND/REFERENCE, as "postrider task list" shows it');
  return `/tasks/${encodeURIComponent(kind)}/${encodeURIComponent(reference)}`;
}

function table(tasks: readonly FailedTask[], { nameOf }: { nameOf: NameOf }): string {
  const rows = tasks.map((task) => [
    ...[
      taskId(task),
      task.tenantId === null ? '-' : nameOf(task.tenantId),
      String(task.attempts),
      printable(task.error),
    ],
  ]);
  return formatList(['id', 'tenant', 'attempts', 'error'], rows, 'No failed tasks.');
}
