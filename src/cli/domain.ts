/** `postrider domain`: shows the DNS records that the operator publishes for the domains of all tenants. */
import type { Command } from 'commander';
import type { OperatorRecords } from '../domains/operator-records.ts';
import { withControl } from './context.ts';
import { formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';

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

type ZoneRecord = { type: string; name: string; value: string; purpose: string };

/** TTL of the records: one hour, so that a change takes effect soon. */
const TTL_SECONDS = 3_600;
/** Maximum length of a character-string in octets (RFC 1035 section 3.3). Our text is all ASCII. */
const MAX_CHARACTER_STRING = 255;

/** Returns each record below a comment with its purpose. Adjacent records with the same purpose share one comment. */
export function zoneFile(records: readonly ZoneRecord[]): string {
  return records
    .flatMap((record, index) => {
      const line = `${record.name}. ${TTL_SECONDS} IN ${record.type} ${rdata(record)}`;
      return records[index - 1]?.purpose === record.purpose ? [line] : [`; ${record.purpose}`, line];
    })
    .join('\n');
}

function rdata({ type, value }: ZoneRecord): string {
  switch (type) {
    case 'TXT':
      return characterStrings(value);
    case 'MX':
    case 'CNAME':
      return `${value}.`;
    default:
      return value;
  }
}

/** Returns the text as quoted character-strings, with `"` and `\\` escaped (RFC 1035 section 5.1). */
function characterStrings(text: string): string {
  const strings: string[] = [];
  for (let start = 0; start === 0 || start < text.length; start += MAX_CHARACTER_STRING) {
    strings.push(text.slice(start, start + MAX_CHARACTER_STRING));
  }
  return strings.map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ');
}
