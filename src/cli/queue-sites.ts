/** `postrider queue sites`: lists what keeps the mail of sites, until when and why, with the mail that waits. */
import type { Command } from 'commander';
import type { ShownKept, ShownKeptSites } from '../queue/control/kept-sites.ts';
import { requestAction } from './context.ts';
import { formatList, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to `postrider queue`. */
export function addQueueSites(queue: Command, terminal: Terminal): void {
  queue
    .command('sites')
    .description(
      'List the sites that rest, are suspended, are over their rate, or take few connections, and the back-off rules in force, with the mail that waits there.',
    )
    .option('--limit <number>', 'maximum number of entries, 100 by default and at most 1000')
    .option('--after <number>', 'leave out this number of entries at the beginning')
    .action(requestAction<ShownKeptSites>(terminal, { request: 'GET /queue/sites', text: sitesText }));
}

const HEADINGS = ['site', 'mail', 'waiting', 'what keeps it', 'until', 'why'];

function sitesText({ sites, total, next }: ShownKeptSites, { nameOf }: { nameOf: NameOf }): string {
  const rows = sites.map((one) => [
    printable(one.place),
    whoseMail(one, nameOf),
    String(one.waiting),
    causeText(one),
    one.until?.replace(/\.\d+Z$/, 'Z') ?? '-',
    printable(one.reason ?? '-'),
  ]);
  const table = formatList(HEADINGS, rows, 'No site rests, and nothing slows one down.');
  return next === null ? table : `${table}\n(${sites.length} of ${total}; --after ${next} shows the next)`;
}

function whoseMail({ tenantId, source }: ShownKept, nameOf: NameOf): string {
  const parts = [
    ...(tenantId === null ? [] : [`of ${nameOf(tenantId)}`]),
    ...(source === null ? [] : [`from ${printable(source)}`]),
  ];
  return parts.length === 0 ? 'all' : parts.join(' ');
}

function causeText({ cause, restriction, limits, hold }: ShownKept): string {
  const limited = Object.entries(limits ?? {})
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
  switch (cause) {
    case 'failures':
      return 'rest after failures';
    case 'probe':
      return 'one message tries it';
    case 'rate':
      return `rate: ${limited}`;
    case 'learned':
      return `learned: ${limited}`;
    case 'rule':
      return `rule ${restriction?.rule}: ${limits === null ? 'rest' : limited}`;
    case 'hold':
      return `suspended by the operator (${hold})`;
  }
}
