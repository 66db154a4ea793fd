/** `postrider mailbox app-password`: manages passwords for single mail programs. A password is printed only when it is made. */
import { type Command, Option } from 'commander';
import { PROTOCOLS } from '../accounts/protocols.ts';
import type { OperatorAppPassword } from '../mailboxes/app-passwords/admin-api.ts';
import { requestAction, withControl } from './context.ts';
import { formatList, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type Settings = {
  name: string;
  member?: string;
  protocol?: string[];
  allowIp?: string[];
  expiresAt?: string;
};

/** Adds the commands to those of `mailbox`. */
export function addAppPasswordCommands(mailbox: Command, terminal: Terminal): void {
  const appPassword = mailbox
    .command('app-password')
    .description('Manage passwords for single mail programs.');
  addCreate(appPassword, terminal);
  appPassword
    .command('list')
    .description('List the app passwords of a mailbox. The passwords are never shown again.')
    .argument('<mailbox>', 'address or id')
    .action(
      requestAction<OperatorAppPassword[]>(terminal, {
        request: 'GET /mailboxes/:name/app-passwords',
        text: (listed) => formatList(HEADINGS, listed.map(toRow), 'No app passwords.'),
      }),
    );
  appPassword
    .command('revoke')
    .description('Revoke an app password at once. This cannot be undone.')
    .argument('<id>', 'id of the app password')
    .option('--yes', 'revoke without asking')
    .action(
      requestAction<OperatorAppPassword>(terminal, {
        request: 'DELETE /app-passwords/:name',
        question: (id) => `Revoke ${id}? Mail programs that use it will be refused.`,
        text: ({ id, name }) => `Revoked ${id} "${printable(name)}"`,
      }),
    );
}

function addCreate(appPassword: Command, terminal: Terminal): void {
  appPassword
    .command('create')
    .description('Create an app password. It is shown only once.')
    .argument('<mailbox>', 'address or id')
    .requiredOption('--name <name>', 'name of the mail program or the device')
    .addOption(
      new Option('--protocol <protocols...>', 'protocols in which it is valid; without it, all').choices(
        PROTOCOLS,
      ),
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
          ...(options.member !== undefined && { member: options.member }),
          ...(options.protocol !== undefined && { protocols: options.protocol }),
          ...(options.allowIp !== undefined && { allowedIps: options.allowIp }),
          ...(options.expiresAt !== undefined && { expiresAt: options.expiresAt }),
        };
        const made = await control.request<OperatorAppPassword & { password: string }>(
          'POST',
          pathOf(name),
          body,
        );
        show(made, () => `App password ${made.id} for ${name}; it is shown only once:\n${made.password}`);
      }),
    );
}

const HEADINGS = ['id', 'name', 'begins', 'protocols', 'addresses', 'last used', 'expires'];

function toRow(one: OperatorAppPassword): string[] {
  return [
    one.id,
    printable(one.name),
    one.hint,
    one.protocols.join(' '),
    one.allowedIps?.join(' ') ?? 'any',
    one.lastUsedAt ?? 'never',
    one.expiresAt ?? 'never',
  ];
}

function pathOf(name: string): string {
  return `/mailboxes/${encodeURIComponent(name)}/app-passwords`;
}
