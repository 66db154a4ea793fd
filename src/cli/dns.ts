/** `postrider dns`: shows and starts the updates of the operator's own primary name server. */
import type { Command } from 'commander';
import type { UpdateReport } from '../dns-updates/updates.ts';
import { requestAction } from './context.ts';
import { formatTable, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addDnsCommands(program: Command, terminal: Terminal): void {
  const dns = program.command('dns').description('Publish the records of the machine by dynamic updates.');
  dns
    .command('status')
    .description('Show what the last pass has found and changed at the primary.')
    .action(requestAction(terminal, { request: 'GET /dns-updates', text: formatUpdates }));
  dns
    .command('update')
    .description('Publish now what differs, and show the result.')
    .action(requestAction(terminal, { request: 'POST /dns-updates/run', text: formatUpdates }));
}

/** Returns what a pass has found and changed, as text. */
export function formatUpdates({
  enabled,
  server,
  zones,
  finishedAt,
  problem,
  records,
}: UpdateReport): string {
  if (!enabled) return 'Dynamic updates are off: set dns.update.server, dns.update.key and dns.update.zones.';
  if (finishedAt === null)
    return `No pass has ended yet. The daemon updates ${zones.join(', ')} at ${server}.`;
  const rows = records.map(({ state, type, name, detail }) => [state, type, name, printable(detail)]);
  const last = `Last pass: ${finishedAt}, ${zones.join(', ')} at ${server}.`;
  const stopped = problem === null ? '' : `\nIt could not go on: ${printable(problem)}`;
  return `${last}${stopped}\n\n${formatTable(['state', 'type', 'name', 'detail'], rows)}`;
}
