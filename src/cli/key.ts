/** `postrider key`: manages API keys. The token of a key is printed only when the key is made. */
import { type Command, Option } from 'commander';
import type { showKey, showListedKey } from '../tenants/admin-schemas.ts';
import { withControl } from './context.ts';
import { UsageError } from './errors.ts';
import { formatList } from './table.ts';
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
};

/** Adds the commands to the program. */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('API keys.');
  addCreate(key, terminal);
  key
    .command('list')
    .description('All keys; tokens are never shown again.')
    .option('--tenant <tenant>', 'only those of this tenant, by id or name')
    .action(({ tenant }: { tenant?: string }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const query = tenant === undefined ? '' : `?tenant=${encodeURIComponent(tenant)}`;
        const keys = await control.request<ListedKey[]>('GET', `/keys${query}`);
        show(keys, () => formatList(HEADINGS, keys.map(toRow), 'No keys yet.'));
      }),
    );
  key
    .command('revoke')
    .description('End a key at once and for good.')
    .argument('<id>')
    .option('--yes', 'do not ask')
    .action((id: string, { yes }: { yes?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if (!yes) await confirm(terminal, `Revoke ${id}? Programs that use it will be refused.`);
        const revoked = await control.request<Key>('DELETE', `/keys/${encodeURIComponent(id)}`);
        show(revoked, () => `Revoked ${revoked.id} "${revoked.name}"`);
      }),
    );
}

function addCreate(key: Command, terminal: Terminal): void {
  key
    .command('create')
    .description('Make a key. Its token is shown once.')
    .requiredOption('--tenant <tenant>', 'whose key it is, by id or name')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(
      new Option('--mode <mode>', 'live keys send; test keys only pretend to')
        .choices(['live', 'test'])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--permission <permission>', 'what it may do')
        .choices(['full_access', 'sending_access', 'read_only'])
        .makeOptionMandatory(),
    )
    .option('--domain <domain>', 'the one domain it may send from, by id or name; default: any')
    .option(
      '--allow-ip <address>',
      'address or CIDR block it may be used from, repeated for more; default: any',
      collect,
    )
    .option('--expires-at <time>', 'ISO 8601; default: never')
    .action(({ allowIp, ...given }: NewKey, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const body = { ...given, ...(allowIp !== undefined && { allowedIps: allowIp }) };
        const made = await control.request<Key & { token: string }>('POST', '/keys', body);
        show(made, () =>
          [`Key ${made.id} "${made.name}" (${made.mode}, ${made.permission}), shown once:`, made.token].join(
            '\n',
          ),
        );
      }),
    );
}

/** Collects the values of an option that may occur several times. */
function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

const HEADINGS = [
  ...['id', 'name', 'mode', 'permission', 'domain', 'addresses', 'begins', 'tenant', 'last used', 'state'],
];

function toRow(key: ListedKey): string[] {
  const state =
    key.revokedAt !== null ? 'revoked' : key.expiresAt !== null ? `until ${key.expiresAt}` : 'valid';
  return [
    key.id,
    key.name,
    key.mode,
    key.permission,
    key.domain ?? 'any',
    key.allowedIps?.join(' ') ?? 'any',
    key.hint,
    key.tenantId,
    key.lastUsedAt ?? 'never',
    state,
  ];
}

async function confirm(terminal: Terminal, question: string): Promise<void> {
  if (!terminal.interactive) throw new UsageError('this cannot be undone: add --yes');
  const answer = await terminal.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was changed');
}
