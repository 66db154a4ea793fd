/** `postrider inbound`: shows received mail of all tenants and of the installation, prints it, and runs its tasks again. */
import { type Command, Option } from 'commander';
import { namesIn, requestAction, withControl } from './context.ts';
import { detailsText, type ListedMessages, listText } from './inbound-text.ts';
import type { Terminal } from './terminal.ts';

type ListOptions = {
  tenant?: string;
  to?: string;
  route?: string;
  from?: string;
  kind?: string;
  state?: string;
  flagged?: true;
};

/** Adds the commands to the program. */
export function addInboundCommands(program: Command, terminal: Terminal): void {
  const inbound = program
    .command('inbound')
    .description('Show received mail of all tenants, and run its tasks again.');
  addList(inbound, terminal);
  inbound
    .command('show')
    .description('Show a received message: envelope, verdicts, recipients, and what is done with it.')
    .argument('<id>')
    .action(requestAction(terminal, { request: 'GET /inbound/messages/:name', text: detailsText }));
  inbound
    .command('raw')
    .description('Print a received message as it arrived, below the header fields that were added.')
    .argument('<id>')
    .action((id: string, _: object, command: Command) =>
      withControl(command, terminal, async (control) =>
        terminal.write(control.download(`${pathOf(id)}/raw`)),
      ),
    );
  addReplay(inbound, terminal);
}

function addList(inbound: Command, terminal: Terminal): void {
  inbound
    .command('list')
    .description('List the newest received messages. A message must match all options.')
    .option('--tenant <tenant>', 'list only messages for this tenant (id or name)')
    .option('--to <address>', 'list only messages to this recipient of the envelope')
    .option('--route <id>', 'list only messages for this route')
    .option('--from <author>', 'list only messages of this author, by address or domain')
    .option(
      '--kind <kind>',
      'list only messages with such a task: post, bounce, complaint, report and others',
    )
    .addOption(
      new Option('--state <state>', 'list only messages with a task in this state').choices([
        ...['pending', 'done', 'failed'],
      ]),
    )
    .option('--flagged', 'list only messages that are probably spam')
    .action(({ to, route, flagged, ...options }: ListOptions, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const query = new URLSearchParams({
          ...options,
          ...(to !== undefined && { address: to }),
          ...(route !== undefined && { routeId: route }),
          ...(flagged && { flagged: 'true' }),
        });
        const listed = await control.request<ListedMessages>('GET', `/inbound/messages?${query}`);
        const nameOf = await namesIn(listed, { command, control });
        show(listed, () => listText(listed, nameOf));
      }),
    );
}

function addReplay(inbound: Command, terminal: Terminal): void {
  inbound
    .command('replay')
    .description(
      'Run the failed tasks of a message again, or all its posts when none has failed. Posts keep their ids.',
    )
    .argument('<id>')
    .option('--task <id>', 'run only this task again; it must be a post, or have failed')
    .action((id: string, { task }: { task?: string }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const body = { ...(task !== undefined && { taskId: task }) };
        const done = await control.request<{ replayed: number }>('POST', `${pathOf(id)}/replay`, body);
        show(done, () => `Replaying ${done.replayed} ${done.replayed === 1 ? 'task' : 'tasks'} of ${id}`);
      }),
    );
}

function pathOf(id: string): string {
  return `/inbound/messages/${encodeURIComponent(id)}`;
}
