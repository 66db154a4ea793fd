/** `postrider broadcast`: shows the broadcasts of all tenants, and pauses, resumes and cancels them. */
import type { Command } from 'commander';
import type { OperatorBroadcast } from '../broadcasts/admin-api.ts';
import { requestAction } from './context.ts';
import { formatList, formatTable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

type Listed = { hasMore: boolean; broadcasts: OperatorBroadcast[] };

/** Adds the commands to the program. */
export function addBroadcastCommands(program: Command, terminal: Terminal): void {
  const broadcast = program.command('broadcast').description('Show and control broadcasts of all tenants.');
  addList(broadcast, terminal);
  broadcast
    .command('show')
    .description('Show a broadcast, and what has become of its contacts.')
    .argument('<id>')
    .action(requestAction(terminal, { request: 'GET /broadcasts/:name', text: details }));
  addChange(broadcast, terminal, {
    name: 'pause',
    description: 'Pause a broadcast. From now on, no copy is taken for delivery.',
  });
  addChange(broadcast, terminal, {
    name: 'resume',
    description:
      'Resume a paused broadcast, with the contacts that have not got it. One that was paused because its start was late is started.',
  });
  addCancel(broadcast, terminal);
}

function addList(broadcast: Command, terminal: Terminal): void {
  broadcast
    .command('list')
    .description('List the newest broadcasts.')
    .option('--tenant <tenant>', 'list only the broadcasts of this tenant (id or name)')
    .option('--status <status>', 'list only broadcasts with this status, such as sending or paused')
    .action(requestAction(terminal, { request: 'GET /broadcasts', text: table }));
}

function addChange(
  broadcast: Command,
  terminal: Terminal,
  { name, description }: { name: 'pause' | 'resume'; description: string },
): void {
  broadcast
    .command(name)
    .description(description)
    .argument('<id>')
    .action(requestAction(terminal, { request: `POST /broadcasts/:name/${name}`, text: result }));
}

function addCancel(broadcast: Command, terminal: Terminal): void {
  broadcast
    .command('cancel')
    .description('Cancel a broadcast. Contacts who have not got it never will. This cannot be undone.')
    .argument('<id>')
    .option('--yes', 'cancel without asking')
    .action(
      requestAction(terminal, {
        request: 'POST /broadcasts/:name/cancel',
        question: (id) => `Cancel ${id}? Contacts who have not got it never will.`,
        text: result,
      }),
    );
}

const HEADINGS = [
  'id',
  'tenant',
  'mode',
  'status',
  'recipients',
  'waiting',
  'queued',
  'delivered',
  'bounced',
];

function table({ hasMore, broadcasts }: Listed, { nameOf }: { nameOf: NameOf }): string {
  const rows = broadcasts.map((one) => [
    ...[one.id, nameOf(one.tenantId), one.mode, statusOf(one)],
    ...[one.counts.recipients, one.counts.waiting, one.counts.queued].map(String),
    ...[one.counts.delivered, one.counts.bounced].map(String),
    one.subject,
  ]);
  const listed = formatList([...HEADINGS, 'subject'], rows, 'No broadcasts.');
  return hasMore ? `${listed}\n(the newest ${broadcasts.length})` : listed;
}

function statusOf({ status, pausedReason }: OperatorBroadcast): string {
  return pausedReason === null ? status : `${status} (${pausedReason})`;
}

/** Returns one line for each field that has a value, and for each count. */
function details({ counts, pace, ...broadcast }: OperatorBroadcast): string {
  const fields = Object.entries({ ...broadcast, pace: pace && JSON.stringify(pace), ...counts });
  const rows = fields.flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
  return formatTable(['field', 'value'], rows);
}

function result(changed: OperatorBroadcast): string {
  const { waiting, queued } = changed.counts;
  return `Broadcast ${changed.id} is ${statusOf(changed)}; ${waiting} waiting, ${queued} queued`;
}
