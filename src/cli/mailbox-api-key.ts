/** `postrider mailbox api-key`: manages API keys that reach the messages of one mailbox. A key is printed only when it is made. */
import { type Command, Option } from 'commander';
import type { OperatorMailboxKey } from '../mailboxes/api-keys/admin-api.ts';
import { MAILBOX_ACCESS } from '../mailboxes/api-keys/schemas.ts';
import { requestAction, withControl } from './context.ts';
import { formatList, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type Settings = {
  name: string;
  access: string;
  member?: string;
  allowIp?: string[];
  expiresAt?: string;
};

/** Adds the commands to those of `mailbox`. */
export function addMailboxKeyCommands(mailbox: Command, terminal: Terminal): void {
  const apiKey = mailbox
    .command('api-key')
    .description(
      'Manage API keys that reach the messages of one mailbox, for programs that act for its owner.',
    );
  addCreate(apiKey, terminal);
  apiKey
    .command('list')
    .description('List the API keys of a mailbox. The keys are never shown again.')
    .argument('<mailbox>', 'address or id')
    .action(
      requestAction<OperatorMailboxKey[]>(terminal, {
        request: 'GET /mailboxes/:name/api-keys',
        text: (listed) => formatList(HEADINGS, listed.map(toRow), 'No API keys.'),
      }),
    );
  apiKey
    .command('revoke')
    .description('Revoke an API key of a mailbox at once. This cannot be undone.')
    .argument('<id>', 'id of the key')
    .option('--yes', 'revoke without asking')
    .action(
      requestAction<OperatorMailboxKey>(terminal, {
        request: 'DELETE /mailbox-api-keys/:name',
        question: (id) => `Revoke ${id}? The program that uses it will be refused.`,
        text: ({ id, name }) => `Revoked ${id} "${printable(name)}"`,
      }),
    );
}

function addCreate(apiKey: Command, terminal: Terminal): void {
  apiKey
    .command('create')
    .description('Create an API key for the messages of a mailbox. It is shown only once.')
    .argument('<mailbox>', 'address or id')
    .requiredOption('--name <name>', 'name of the program that uses it')
    .addOption(
      new Option(
        '--access <access>',
        'read; drafts: also marks, moves and drafts, which the owner sends; send: all of it',
      )
        .choices(MAILBOX_ACCESS)
        .default('read'),
    )
    .option(
      '--allow-ip <addresses...>',
      'addresses or CIDR blocks from which it may be used; without it, any',
    )
    .option('--member <address>', 'address of the member that it is for, where the mailbox is shared')
    .option('--expires-at <time>', 'time in ISO 8601 at which it expires; without it, never')
    .action((name: string, options: Settings, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const body = {
          name: options.name,
          access: options.access,
          ...(options.member !== undefined && { member: options.member }),
          ...(options.allowIp !== undefined && { allowedIps: options.allowIp }),
          ...(options.expiresAt !== undefined && { expiresAt: options.expiresAt }),
        };
        const path = `/mailboxes/${encodeURIComponent(name)}/api-keys`;
        const made = await control.request<OperatorMailboxKey & { token: string }>('POST', path, body);
        show(made, () => `API key ${made.id} for ${name}; it is shown only once:\n${made.token}`);
      }),
    );
}

const HEADINGS = ['id', 'name', 'begins', 'access', 'addresses', 'last used', 'expires'];

function toRow(one: OperatorMailboxKey): string[] {
  return [
    one.id,
    printable(one.name),
    one.hint,
    one.access,
    one.allowedIps?.join(' ') ?? 'any',
    one.lastUsedAt ?? 'never',
    one.expiresAt ?? 'never',
  ];
}
