/** `postrider source`: shows the addresses from which mail leaves. */
import type { Command } from 'commander';
import type { ShownSource } from '../queue/sources/list.ts';
import { isoTime } from '../system/clock.ts';
import { requestAction } from './context.ts';
import { formatList, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addSourceCommands(program: Command, terminal: Terminal): void {
  const source = program
    .command('source')
    .description('Show the sources of outgoing mail: the addresses from which it leaves (outbound.sources).');
  source
    .command('list')
    .description('List all sources: their pools, and whether one is suspended, why and until when.')
    .action(
      requestAction<{ sources: ShownSource[] }>(terminal, {
        request: 'GET /sources',
        text: ({ sources }) => formatSources(sources),
      }),
    );
}

function formatSources(sources: readonly ShownSource[]): string {
  const rows = sources.map(({ name, addresses, ehlo, proxy, pools, suspended }) => [
    name,
    addresses.join(', '),
    ehlo,
    proxy ? `${proxy.kind} ${proxy.address} port ${proxy.port}` : 'this machine',
    pools.join(', '),
    suspended.length === 0 ? 'in use' : suspended.map(describeSuspension).join('; '),
  ]);
  const headings = ['name', 'addresses', 'EHLO', 'through', 'pools', 'state'];
  return formatList(headings, rows, 'No sources: mail leaves from the address that the system chooses.');
}

function describeSuspension({ address, reason, until }: ShownSource['suspended'][number]): string {
  return printable(`${address} suspended: ${reason}; probed again at ${isoTime(until)}`);
}
