/** `postrider domain`: shows the DNS records that the operator publishes for the domains of all tenants. */
import type { Command } from 'commander';
import type { OperatorRecords } from '../domains/operator-records.ts';
import { withControl } from './context.ts';
import { formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { zoneFile } from './zone-file.ts';

/** Adds the commands to the program. */
export function addDomainCommands(program: Command, terminal: Terminal): void {
  const domain = program.command('domain').description('Show the DNS records of sending domains.');
  domain
    .command('records')
    .description('Print the DNS records to publish in the zone of the hostname, for all domains.')
    .option('--zone', 'print lines for a zone file')
    .action(({ zone }: { zone?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const found = await control.request<OperatorRecords>('GET', '/dns-records');
        for (const warning of found.warnings) terminal.complain(`warning: ${warning}`);
        show(found, () => (zone ? zoneFile(found.records) : table(found)));
      }),
    );
}

/** Returns the records as a table. Values are last, because a key is longer than a terminal is wide. */
function table({ records }: OperatorRecords): string {
  const rows = records.map(({ type, name, value, purpose }) => [type, name, purpose, value]);
  return formatTable(['type', 'name', 'purpose', 'value'], rows);
}
