/** `postrider domain`: the domains of all tenants. */
import { type Command, Option } from 'commander';
import type { OperatorDomain } from '../domains/admin-api.ts';
import { namesIn, requestAction, withControl } from './context.ts';
import { formatUpdates } from './dns.ts';
import { addDomainRecords, recordData } from './domain-records.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

type NewDomain = { tenant?: string; productType?: string; region?: string; ed25519?: true };

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
        text: (domains, { nameOf }) =>
          formatList(
            HEADINGS,
            domains.map((one) => toRow(one, nameOf)),
            'No domains yet.',
          ),
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
    .command('publish')
    .description(
      'Publish the records of a domain by dynamic updates now, also before it is verified: it must be in a zone of dns.update.',
    )
    .argument('<domain>', 'name or id')
    .option(...TENANT)
    .action(requestAction(terminal, { request: 'POST /domains/:name/publish', text: formatUpdates }));
  domain
    .command('rotate-dkim')
    .description(
      'Make the next DKIM keys of a domain, and say what is to be published. They sign once DNS has them.',
    )
    .argument('<domain>', 'name or id')
    .option(...TENANT)
    .action(requestAction(terminal, { request: 'POST /domains/:name/rotate-dkim', text: rotation }));
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
    .option('--ed25519', 'sign with an Ed25519 key too, once its record is found in DNS')
    .action((name: string, options: NewDomain, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const made = await control.request<OperatorDomain>('POST', '/domains', { name, ...options });
        const nameOf = await namesIn(made, { command, control });
        show(made, () => details(made, { nameOf }));
      }),
    );
}

const HEADINGS = ['id', 'name', 'status', 'for', 'tenant', 'created'];

function toRow(
  { id, name, status, productType, tenantId, createdAt }: OperatorDomain,
  nameOf: NameOf,
): string[] {
  return [id, name, status, productType, nameOf(tenantId), createdAt];
}

/** Returns the domain in a line, its records as a table, and what is wrong with them. */
function details(
  { id, name, status, tenantId, records, optionalRecords }: OperatorDomain,
  { nameOf }: { nameOf: NameOf },
): string {
  const all = [...records, ...optionalRecords];
  const rows = all.map((record) => [
    record.record,
    record.required ? record.status : `${record.status} (optional)`,
    record.type,
    record.name,
    recordData(record),
  ]);
  const errors = records.flatMap(({ record, error }) =>
    error === null ? [] : [`${record}: ${printable(error)}`],
  );
  return [
    `Domain ${id} ${name} of ${nameOf(tenantId)} is ${status}`,
    '',
    formatTable(['record', 'status', 'type', 'name', 'value'], rows),
    ...(errors.length > 0 ? ['', ...errors] : []),
  ].join('\n');
}

/** Returns what becomes of the new keys of a domain, and the records that its owner publishes unless they lead here already. */
function rotation({ name, dkimKeys, optionalRecords }: OperatorDomain): string {
  const waiting = dkimKeys.filter(({ state }) => state === 'waiting');
  const lines = waiting.flatMap(({ selector, algorithm }) => {
    const record = optionalRecords.find((one) => one.name.startsWith(`${selector}.`));
    const begin = `The next ${algorithm === 'rsa' ? 'RSA' : 'Ed25519'} key of ${name} has the selector ${selector}`;
    if (!record) return [begin];
    // A CNAME that leads here was found before, with or without a key at its end.
    if (record.status === 'verified' || record.found.includes(record.value))
      return [`${begin}. Its record leads here already, so the owner of the domain has nothing to publish.`];
    const alternative = 'alternative' in record ? record.alternative : undefined;
    return [
      `${begin}. The owner of the domain publishes one of these, unless it was published before:`,
      formatTable(
        ['type', 'name', 'value'],
        [
          [record.type, record.name, record.value],
          ...(alternative ? [[alternative.type, alternative.name, alternative.value]] : []),
        ],
      ),
    ];
  });
  return [
    ...lines,
    '',
    'DNS is asked each minute. A key signs once it is found there; the key before stays published for 7 days or longer, until its mail has ended.',
    'The key itself belongs into the zone of the hostname: publish what "postrider domain records --check" shows as missing, unless the built-in name server or DNS updates do it.',
  ].join('\n');
}
