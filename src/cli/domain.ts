/** `postrider domain`: the domains of all tenants. */
import { type Command, Option } from 'commander';
import type { OperatorDomain } from '../domains/admin-api.ts';
import { requestAction, withControl } from './context.ts';
import { addDomainRecords } from './domain-records.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type NewDomain = { tenant?: string; productType?: string; region?: string };

const TENANT = ['--tenant <tenant>', 'id or name of the tenant, where several have the domain'] as const;

/** Adds the commands to the program. */
export function addDomainCommands(program: Command, terminal: Terminal): void {
  const domain = program
    .command('domain')
    .description('Manage the domains of all tenants, and their DNS records.');
  addAdd(domain, terminal);
  domain
    .command('list')
    .description('List the newest domains, at most 1,000.')
    .option('--tenant <tenant>', 'only those of this tenant (id or name)')
    .addOption(
      new Option('--status <status>', 'only those with this status').choices([
        ...['pending', 'verified', 'failed', 'temporary_failure'],
      ]),
    )
    .action(
      requestAction<OperatorDomain[]>(terminal, {
        request: 'GET /domains',
        text: (domains) => formatList(HEADINGS, domains.map(toRow), 'No domains yet.'),
      }),
    );
  domain
    .command('show')
    .description('Show a domain with the records that its owner publishes, and what DNS had for them last.')
    .argument('<domain>', 'name or id')
    .option(...TENANT)
    .action(requestAction(terminal, { request: 'GET /domains/:name', text: details }));
  domain
    .command('verify')
    .description('Check the records of a domain in DNS now.')
    .argument('<domain>', 'name or id')
    .option(...TENANT)
    .action(requestAction(terminal, { request: 'POST /domains/:name/verify', text: details }));
  domain
    .command('delete')
    .description('Delete a domain, unless mail is scheduled from it. Mail that waits is still delivered.')
    .argument('<domain>', 'name or id')
    .option(...TENANT)
    .option('--yes', 'delete without asking')
    .action(
      requestAction<OperatorDomain>(terminal, {
        request: 'DELETE /domains/:name',
        question: (name) => `Delete ${name}? Nothing is sent from it any more.`,
        text: ({ id, name }) => `Deleted ${id} ${name}`,
      }),
    );
  addDomainRecords(domain, terminal);
}

function addAdd(domain: Command, terminal: Terminal): void {
  domain
    .command('add')
    .description('Add a domain, and print the records that its owner publishes.')
    .argument('<name>')
    .option('--tenant <tenant>', 'id or name of the tenant; it may be left out while there is only one')
    .addOption(
      new Option('--product-type <type>', 'who sends from it: programs, people or both').choices([
        ...['api', 'mailbox', 'both'],
      ]),
    )
    .option('--region <code>', 'region code of the domain')
    .action((name: string, options: NewDomain, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const made = await control.request<OperatorDomain>('POST', '/domains', { name, ...options });
        show(made, () => details(made));
      }),
    );
}

const HEADINGS = ['id', 'name', 'status', 'for', 'tenant', 'created'];

function toRow({ id, name, status, productType, tenantId, createdAt }: OperatorDomain): string[] {
  return [id, name, status, productType, tenantId, createdAt];
}

/** Returns the domain in a line, its records as a table, and what is wrong with them. */
function details({ id, name, status, tenantId, records, optionalRecords }: OperatorDomain): string {
  const all = [...records, ...optionalRecords];
  const rows = all.map((record) => [
    record.record,
    record.required ? record.status : `${record.status} (optional)`,
    record.type,
    record.name,
    'priority' in record && record.priority !== undefined
      ? `${record.priority} ${record.value}`
      : record.value,
  ]);
  const errors = records.flatMap(({ record, error }) =>
    error === null ? [] : [`${record}: ${printable(error)}`],
  );
  return [
    `Domain ${id} ${name} of ${tenantId} is ${status}`,
    '',
    formatTable(['record', 'status', 'type', 'name', 'value'], rows),
    ...(errors.length > 0 ? ['', ...errors] : []),
  ].join('\n');
}
