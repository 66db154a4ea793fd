/** The commands `postrider queue` show what waits to be sent, and change it (queue-actions.ts). */
import type { Command } from 'commander';
import type { ShownDomain } from '../queue/control/admin-api.ts';
import type { OpenState } from '../queue/control/list-store.ts';
import type { ShownAction, ShownRecipient } from '../queue/control/show.ts';
import type { Grouping, sumQueues } from '../queue/control/stats.ts';
import { namesIn, requestAction, withControl } from './context.ts';
import { addQueueActions, describeSelection } from './queue-actions.ts';
import { addCriteria } from './queue-criteria.ts';
import { addQueueSite } from './queue-site.ts';
import { addQueueSites } from './queue-sites.ts';
import { addQueueTrace } from './queue-trace.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addQueueCommands(program: Command, terminal: Terminal): void {
  const queue = program.command('queue').description('Show and change what waits to be sent.');
  addList(queue, terminal);
  addStats(queue, terminal);
  addShow(queue, terminal);
  addQueueActions(queue, terminal);
  addQueueSites(queue, terminal);
  addQueueSite(queue, terminal);
  addQueueTrace(queue, terminal);
  queue
    .command('feedback-address')
    .description(
      'Show the address to register with a provider for its feedback loop. Complaints that arrive there are counted and suppress; keep it secret.',
    )
    .argument('<provider>', 'a name for the provider, such as yahoo: each has an address of its own')
    .action(
      requestAction<{ address: string }>(terminal, {
        request: 'GET /feedback-loops/:name',
        text: ({ address }) => address,
      }),
    );
}

const STATES = ['ready', 'deferred', 'held', 'in_flight'] as const satisfies readonly OpenState[];

type ListedRecipients = { hasMore: boolean; recipients: ShownRecipient[] };

function addList(queue: Command, terminal: Terminal): void {
  addCriteria(
    queue.command('list').description('List recipients whose mail waits, is held or is being sent.'),
  )
    .option('--state <state>', `list only recipients in this state: ${STATES.join(', ')}`)
    .option('--limit <number>', 'maximum number of recipients, 100 by default and at most 1000')
    .action(
      requestAction<ListedRecipients>(terminal, {
        request: 'GET /queue/recipients',
        text: ({ hasMore, recipients }, { isFiltered, nameOf }) => {
          const empty = isFiltered ? 'No such mail waits.' : 'No mail waits.';
          const listed = recipientTable(recipients, { empty, nameOf });
          return hasMore ? `${listed}\n(the first ${recipients.length}; there are more)` : listed;
        },
      }),
    );
}

const HEADINGS = ['email', 'tenant', 'to', 'state', 'tries', 'accepted', 'next attempt', 'last reply'];

function recipientTable(
  recipients: readonly ShownRecipient[],
  { empty, nameOf }: { empty: string; nameOf: NameOf },
): string {
  const rows = recipients.map((one) => [
    ...[one.emailId, nameOf(one.tenantId), printable(one.to), one.state, String(one.attempts)],
    ...[short(one.acceptedAt), one.nextAttemptAt === null ? '-' : short(one.nextAttemptAt)],
    printable(one.diagnostic ?? ''),
  ]);
  return formatList(HEADINGS, rows, empty);
}

/** Returns a time without fractions of a second. */
function short(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}

type Stats = Awaited<ReturnType<typeof sumQueues>>;

function addStats(queue: Command, terminal: Terminal): void {
  addCriteria(queue.command('stats').description('Count the recipients of the queue.'))
    .option('--by <group>', 'sum by domain (the default), site, tenant or kind')
    .option('--limit <number>', 'maximum number of groups, 100 by default')
    .action(requestAction<Stats>(terminal, { request: 'GET /queue/stats', text: statsTable }));
}

function statsTable(
  { countedAt, total, by, groups, groupCount }: Stats,
  { nameOf }: { nameOf: NameOf },
): string {
  const rows = groups.map((group) => {
    const name = String((group as Partial<Record<Grouping, string>>)[by]);
    return countsOf(by === 'tenant' ? nameOf(name) : name, group);
  });
  const table = formatTable(
    [by, 'waiting', 'due', 'deferred', 'held', 'being sent', 'first due'],
    [...rows, countsOf('(all)', total)],
  );
  const cut = groupCount > groups.length ? `; the longest ${groups.length} of ${groupCount}` : '';
  return `${table}\n(counted at ${short(countedAt)}${cut})`;
}

type Counts = Stats['total'];

function countsOf(name: string, { waiting, due, deferred, held, inFlight, nextDueAt }: Counts): string[] {
  const numbers = [waiting, due, deferred, held, inFlight].map(String);
  return [printable(name), ...numbers, nextDueAt === null ? '-' : short(nextDueAt)];
}

type ShownEmail = { emailId: string; recipients: ShownRecipient[]; actions: ShownAction[] };

function addShow(queue: Command, terminal: Terminal): void {
  queue
    .command('show')
    .description('Show an email with its recipients, or what waits for a domain, with the holds that apply.')
    .argument('<what>', 'id of an email, or a domain')
    .action((what: string, _options: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if (what.includes('.')) {
          const path = `/queue/domains/${encodeURIComponent(what)}`;
          const domain = await control.request<ShownDomain>('GET', path);
          const nameOf = await namesIn(domain, { command, control });
          show(domain, () => domainText(domain, nameOf));
        } else {
          const email = await control.request<ShownEmail>('GET', `/queue/emails/${encodeURIComponent(what)}`);
          const nameOf = await namesIn(email, { command, control });
          show(email, () => emailText(email, nameOf));
        }
      }),
    );
}

function emailText({ recipients, actions }: ShownEmail, nameOf: NameOf): string {
  const empty = 'No recipient of this email waits.';
  return [recipientTable(recipients, { empty, nameOf }), ...actions.map(actionLine)].join('\n');
}

function domainText({ domain, site, replies, actions, ...stats }: ShownDomain, nameOf: NameOf): string {
  const lines = replies.map((reply) => `${reply.recipients} recipients: ${printable(reply.diagnostic)}`);
  return [
    `Domain ${domain}, site ${site ?? 'not known yet'}`,
    statsTable(stats, { nameOf }),
    ...(lines.length > 0 ? ['Most frequent last replies:', ...lines] : []),
    ...actions.map(actionLine),
  ].join('\n');
}

function actionLine(action: ShownAction): string {
  const reason = action.reason === null ? '' : ` (${printable(action.reason)})`;
  return `In force: ${action.verb} ${describeSelection(action)}${reason}, ${action.id}`;
}
