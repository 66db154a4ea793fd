/** `postrider nameserver`: shows the built-in name server, and the records by which the parent zone delegates to it. */
import type { Command } from 'commander';
import type { NameServerReport } from '../nameserver/name-server.ts';
import { requestAction } from './context.ts';
import { formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addNameServerCommand(program: Command, terminal: Terminal): void {
  program
    .command('nameserver')
    .description('Show the built-in name server, and the records that the parent zone needs.')
    .action(requestAction(terminal, { request: 'GET /nameserver', text: report }));
}

function report({ zone, enabled, status, delegation }: NameServerReport): string {
  if (!enabled) return 'The name server is off: set nameserver.enabled (POSTRIDER_NAMESERVER_ENABLED=true).';
  const state = status
    ? `It answers for ${zone} on ${status.addresses.join(', ')}: ${status.records} records, serial ${status.serial}.`
    : `It is to answer for ${zone} once the daemon runs.`;
  const rows = delegation.map(({ type, name, value, purpose }) => [type, name, value, purpose]);
  const table = formatTable(['type', 'name', 'value', 'purpose'], rows);
  return `${state}\nPublish these records in the zone above ${zone}:\n\n${table}`;
}
