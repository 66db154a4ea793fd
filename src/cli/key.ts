/** `postrider key`: manages API keys. The token of a key is printed only when the key is made. */
import { type Command, Option } from 'commander';
import type { showKey, showListedKey } from '../tenants/admin-schemas.ts';
import { requestAction, withControl } from './context.ts';
import { formatList } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

type Key = ReturnType<typeof showKey>;
type ListedKey = ReturnType<typeof showListedKey>;
type NewKey = {
  tenant: string;
  name: string;
  mode: string;
  permission: string;
  domain?: string;
  allowIp?: string[];
  expiresAt?: string;
  requiresApproval?: string;
};

/** Adds the commands to the program. */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('Manage API keys.');
  addCreate(key, terminal);
  key
    .command('list')
    .description('List keys. Their tokens are never shown again.')
    .option('--tenant <tenant>', 'list only the keys of this tenant (id or name)')
    .action(
      requestAction<ListedKey[]>(terminal, {
        request: 'GET /keys',
        text: (keys, { nameOf }) =>
          formatList(
            HEADINGS,
            keys.map((one) => toRow(one, nameOf)),
            'No keys yet.',
          ),
      }),
    );
  key
    .command('revoke')
    .description('Revoke a key at once. This cannot be undone.')
    .argument('<id>')
    .option('--yes', 'revoke without asking')
    .action(
      requestAction<Key>(terminal, {
        request: 'DELETE /keys/:name',
        question: (id) => `Revoke ${id}? Programs that use it will be refused.`,
        text: ({ id, name }) => `Revoked ${id} "${name}"`,
      }),
    );
}

function addCreate(key: Command, terminal: Terminal): void {
  key
    .command('create')
    .description('Create a key. Its token is shown only once.')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant')
    .requiredOption('--name <name>', 'name of the key, such as the program that uses it')
    .addOption(
      new Option('--mode <mode>', 'live keys send mail; test keys only simulate it')
        .choices(['live', 'test'])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--permission <permission>', 'requests that the key permits')
        .choices(['full_access', 'sending_access', 'read_only'])
        .makeOptionMandatory(),
    )
    .option('--domain <domain>', 'the only domain that the key reaches (id or name); without it, any domain')
    .option(
      '--allow-ip <address>',
      'address or CIDR block from which the key may be used; can be given several times',
      collect,
    )
    .option('--expires-at <time>', 'time in ISO 8601 at which the key expires; without it, never')
    .addOption(
      new Option(
        '--requires-approval <mail>',
        'mail of the key that waits until a person approves it; without it, none does',
      ).choices(['broadcasts', 'broadcasts_and_emails']),
    )
    .action(({ allowIp, ...given }: NewKey, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const body = { ...given, ...(allowIp !== undefined && { allowedIps: allowIp }) };
        const made = await control.request<Key & { token: string }>('POST', '/keys', body);
        show(made, () =>
          [
            `Key ${made.id} "${made.name}" (${made.mode}, ${made.permission}); its token is shown only once:`,
            made.token,
          ].join('\n'),
        );
      }),
    );
}

/** Collects the values of an option that may occur several times. */
function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

const HEADINGS = [
  ...[
    'id',
    'name',
    'mode',
    'permission',
    'domain',
    'addresses',
    'approval',
    'begins',
    'tenant',
    'last used',
    'state',
  ],
];

function toRow(key: ListedKey, nameOf: NameOf): string[] {
  const state =
    key.revokedAt !== null ? 'revoked' : key.expiresAt !== null ? `until ${key.expiresAt}` : 'valid';
  return [
    key.id,
    key.name,
    key.mode,
    key.permission,
    key.domain ?? 'any',
    key.allowedIps?.join(' ') ?? 'any',
    key.requiresApproval ?? 'none',
    key.hint,
    nameOf(key.tenantId),
    key.lastUsedAt ?? 'never',
    state,
  ];
}
