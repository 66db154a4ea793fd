/** `postrider domain records`: the DNS records that the operator publishes for the domains of all tenants. */
import type { Command } from 'commander';
import type { OperatorRecords } from '../domains/operator-records.ts';
import { withControl } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import { formatTable, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Maximum length of a value that is shown though there is nothing to do about it, in characters. */
const MAX_SHOWN_VALUE = 60;

/** Adds the command to those of domains. */
export function addDomainRecords(domain: Command, terminal: Terminal): void {
  domain
    .command('records')
    .description(
      'Print the DNS records to publish in the zone of the hostname, for all domains. "postrider domain show" prints those of one domain.',
    )
    .option('--zone', 'print lines for a zone file')
    .option(
      '--check',
      'show what DNS has for each record; the exit code is 1 when one is missing or different',
    )
    .action(({ zone, check }: { zone?: true; check?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if (zone && check) throw new UsageError('give --zone or --check');
        const path = check ? '/dns-records?check=true' : '/dns-records';
        const found = await control.request<OperatorRecords>('GET', path);
        for (const warning of found.warnings) terminal.complain(`warning: ${warning}`);
        if (check) {
          show(found, () => checkedTable(found));
          requirePublished(found);
          return;
        }
        show(found, () => (zone ? zoneFile(found.records) : table(found)));
      }),
    );
}

/** Returns the records as a table. Values are last, because a key is longer than a terminal is wide. */
function table({ records }: OperatorRecords): string {
  const rows = records.map(({ type, name, value, purpose }) => [type, name, purpose, value]);
  return formatTable(['type', 'name', 'purpose', 'value'], rows);
}

/** Returns each record with what DNS has, those to do something about first. */
function checkedTable({ records }: OperatorRecords): string {
  const rows = records
    .toSorted((one, other) => Number(isRight(one)) - Number(isRight(other)))
    .map(({ type, name, value, published, isOptional }) => {
      const found = published?.found.map(printable).join(' | ') ?? '';
      const state = published?.state ?? '';
      const note = isOptional && state === 'missing' ? `${state} (optional)` : state;
      if (state === 'published') return [note, type, name, shortened(value), ''];
      return [note, type, name, value, published?.reason ?? found];
    });
  return formatTable(['state', 'type', 'name', 'expected', 'found instead'], rows);
}

/** Nobody copies a value that is published already, and a key would make every line of the table longer than a terminal is wide. */
function shortened(value: string): string {
  return value.length <= MAX_SHOWN_VALUE ? value : `${value.slice(0, MAX_SHOWN_VALUE - 1)}…`;
}

/** An optional record may be missing, but not be wrong. */
function isRight({ isOptional, published }: OperatorRecords['records'][number]): boolean {
  return published?.state === 'published' || (isOptional === true && published?.state === 'missing');
}

function requirePublished({ records }: OperatorRecords): void {
  const count = records.filter((record) => !isRight(record)).length;
  if (count > 0)
    throw new CommandError(`${count} of ${records.length} records are not published as they should be`);
}

type RecordParts = { type: string; value: string } & { [Part in 'priority' | 'weight' | 'port']?: unknown };

/** Returns the data of a record as zone files have them, without the final dot of a host name. */
export function recordData({ type, value, priority = 0, weight = 0, port = 0 }: RecordParts): string {
  if (type === 'MX') return `${priority} ${value}`;
  return type === 'SRV' ? `${priority} ${weight} ${port} ${value}` : value;
}

/** A line of a zone file, with the data of `recordData`. Host names get their final dot. */
export type ZoneRecord = { type: string; name: string; value: string; purpose: string };

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
    case 'SRV':
      return value.endsWith('.') ? value : `${value}.`;
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
