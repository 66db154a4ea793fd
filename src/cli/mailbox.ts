/** `postrider mailbox`: manages the mailboxes of all tenants. A password is printed only when it is made. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { MailboxWithSettings, OperatorMailbox } from '../mailboxes/admin-api.ts';
import type { MailSettings } from '../mailboxes/discovery/settings.ts';
import { namesIn, requestAction, withControl } from './context.ts';
import { addAddressCommands } from './mailbox-addresses.ts';
import { addMailboxKeyCommands } from './mailbox-api-key.ts';
import { addAppPasswordCommands } from './mailbox-app-password.ts';
import { addFilterCommands } from './mailbox-filters.ts';
import { addImportCommands } from './mailbox-imports.ts';
import { addOutboxCommand } from './mailbox-outbox.ts';
import { addRepairCommands } from './mailbox-repair.ts';
import { addTransferCommands } from './mailbox-transfer.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

type WithPassword = OperatorMailbox & { password: string | null };
type Settings = { name?: string; quota?: number; passwordStdin?: true; scram?: true };
type Changes = Omit<Settings, 'passwordStdin' | 'scram'> & {
  status?: string;
  disable?: string;
  passwordLogin?: string;
};

const BYTES_PER_MEGABYTE = 1024 * 1024;

/** Adds the commands to the program. */
export function addMailboxCommands(program: Command, terminal: Terminal): void {
  const mailbox = program.command('mailbox').description('Manage mailboxes of people.');
  addCreate(mailbox, terminal);
  addList(mailbox, terminal);
  mailbox
    .command('show')
    .description('Show a mailbox, with the settings for mail programs, and a QR code for Apple devices.')
    .argument('<mailbox>', 'address or id')
    .action((name: string, _: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const found = await control.request<MailboxWithSettings>('GET', pathOf(name));
        const settings = await formatSettings(found.settings, terminal);
        const nameOf = await namesIn(found, { command, control });
        show(found, () => `${detailsText(found, nameOf)}\n\n${settings}`);
      }),
    );
  addSet(mailbox, terminal);
  addPasswd(mailbox, terminal);
  addAppPasswordCommands(mailbox, terminal);
  addMailboxKeyCommands(mailbox, terminal);
  addAddressCommands(mailbox, terminal);
  addFilterCommands(mailbox, terminal);
  addOutboxCommand(mailbox, terminal);
  addTransferCommands(mailbox, terminal);
  addImportCommands(mailbox, terminal);
  addRepairCommands(mailbox, terminal);
  mailbox
    .command('delete')
    .description('Delete a mailbox with all its messages. This cannot be undone.')
    .argument('<mailbox>', 'address or id')
    .option('--yes', 'delete without asking')
    .action(
      requestAction<OperatorMailbox>(terminal, {
        request: 'DELETE /mailboxes/:name',
        question: (name) => `Delete ${name} and all its messages?`,
        text: ({ address }) => `Deleted ${address}`,
      }),
    );
}

function addCreate(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('create')
    .description('Create a mailbox. A password that the server makes is shown only once.')
    .argument('<address>')
    .option('--tenant <tenant>', 'id or name of its tenant; without it, the one that receives at the domain')
    .option('--name <name>', 'name of the person or the role')
    .addOption(quotaOption())
    .option('--password-stdin', 'take the password from standard input')
    .option('--scram', SCRAM_HELP)
    .option('--shared', 'create a shared mailbox, which members use and which has no password')
    .action((address: string, options: Settings & { tenant?: string; shared?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const { tenant } = options;
        const body = {
          address,
          ...settingsOf(options),
          ...(tenant !== undefined && { tenant }),
          ...(options.passwordStdin && { password: await readNewPassword(terminal, address) }),
          ...(options.scram && { scramLogin: true }),
          ...(options.shared && { kind: 'shared' }),
        };
        const made = await control.request<WithPassword>('POST', '/mailboxes', body);
        show(made, () => passwordText(`Mailbox ${made.address}`, made));
      }),
    );
}

function addList(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('list')
    .description('List the newest mailboxes.')
    .option('--tenant <tenant>', 'list only the mailboxes of this tenant (id or name)')
    .option('--domain <domain>', 'list only the mailboxes of this domain')
    .action((query: { tenant?: string; domain?: string }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const listed = await control.request<{ hasMore: boolean; mailboxes: OperatorMailbox[] }>(
          'GET',
          `/mailboxes?${new URLSearchParams(query)}`,
        );
        const nameOf = await namesIn(listed, { command, control });
        show(listed, () => {
          const rows = listed.mailboxes.map((one) => toRow(one, nameOf));
          const table = formatList(HEADINGS, rows, 'No mailboxes.');
          return listed.hasMore ? `${table}\n(the newest ${listed.mailboxes.length})` : table;
        });
      }),
    );
}

function addSet(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('set')
    .description('Change the settings of a mailbox.')
    .argument('<mailbox>', 'address or id')
    .option('--name <name>', 'name of the person or the role; an empty one removes it')
    .addOption(quotaOption())
    .addOption(
      new Option('--status <status>', 'a suspended mailbox takes no mail, and nobody may log in').choices([
        ...['active', 'suspended'],
      ]),
    )
    .addOption(
      new Option('--password-login <on|off>', 'off: only app passwords open the mailbox').choices([
        ...['on', 'off'],
      ]),
    )
    .option(
      '--disable <capabilities>',
      'IMAP capabilities not to offer, with commas; an empty list offers all',
    )
    .action((name: string, options: Changes, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const { status, disable, passwordLogin } = options;
        const body = {
          ...settingsOf(options),
          ...(status !== undefined && { status }),
          ...(passwordLogin !== undefined && { passwordLogin: passwordLogin === 'on' }),
          ...(disable !== undefined && {
            disabledCapabilities: disable.split(',').filter((one) => one !== ''),
          }),
        };
        const changed = await control.request<OperatorMailbox>('PATCH', pathOf(name), body);
        const nameOf = await namesIn(changed, { command, control });
        show(changed, () => detailsText(changed, nameOf));
      }),
    );
}

function readNewPassword(terminal: Terminal, mailbox: string): Promise<string> {
  return terminal.readPassword(`New password of ${mailbox}: `);
}

function addPasswd(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('passwd')
    .description('Give a mailbox another password. One that the server makes is shown only once.')
    .argument('<mailbox>', 'address or id')
    .option('--password-stdin', 'take the password from standard input')
    .option('--scram', SCRAM_HELP)
    .action((name: string, { passwordStdin, scram }: Settings, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const body = {
          ...(passwordStdin ? { password: await readNewPassword(terminal, name) } : { newPassword: true }),
          ...(scram && { scramLogin: true }),
        };
        const changed = await control.request<WithPassword>('PATCH', pathOf(name), body);
        show(changed, () => passwordText(`Mailbox ${changed.address}`, changed));
      }),
    );
}

/** Help for `--scram`. Passwords that the server makes always work with SCRAM. */
const SCRAM_HELP = 'let mail programs log in by SCRAM with the password that you give';

function quotaOption(): Option {
  return new Option('--quota <megabytes>', 'maximum size of the messages, in megabytes').argParser((text) => {
    const megabytes = Number(text);
    if (!Number.isInteger(megabytes) || megabytes < 1)
      throw new InvalidArgumentError('It must be a whole number.');
    return megabytes;
  });
}

function settingsOf({ name, quota }: Settings) {
  return {
    ...(name !== undefined && { displayName: name === '' ? null : name }),
    ...(quota !== undefined && { quotaBytes: quota * BYTES_PER_MEGABYTE }),
  };
}

function passwordText(what: string, { password, kind }: WithPassword): string {
  if (kind === 'shared') return `${what} is shared; give it members, and app passwords for them`;
  return password === null
    ? `${what} has the password that you gave`
    : `${what}; its password is shown only once:\n${password}`;
}

const HEADINGS = ['address', 'name', 'status', 'messages', 'used', 'quota', 'last login', 'tenant'];

function toRow(one: OperatorMailbox, nameOf: NameOf): string[] {
  return [
    one.address,
    printable(one.displayName ?? ''),
    one.status,
    String(one.messageCount),
    megabytes(one.usedBytes),
    megabytes(one.quotaBytes),
    one.lastLoginAt ?? 'never',
    nameOf(one.tenantId),
  ];
}

/** Returns everything about a mailbox as a table. */
function detailsText(one: OperatorMailbox, nameOf: NameOf): string {
  const details = [
    ['aliases', listText(one.aliases)],
    ['id', one.id],
    ['created', one.createdAt],
    one.kind === 'shared' ? ['members', listText(one.members)] : ['password login', passwordLoginText(one)],
    [
      'capabilities',
      one.disabledCapabilities.length === 0 ? 'all' : `all but ${one.disabledCapabilities.join(', ')}`,
    ],
  ];
  const row = toRow(one, nameOf);
  return formatTable(
    ['field', 'value'],
    [...HEADINGS.map((name, index) => [name, row[index] ?? '']), ...details],
  );
}

function listText(addresses: readonly string[]): string {
  return addresses.length === 0 ? 'none' : addresses.join(', ');
}

function passwordLoginText({ passwordLogin, scramLogin }: OperatorMailbox): string {
  if (!passwordLogin) return 'off';
  return scramLogin ? 'on, with SCRAM' : 'on';
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / BYTES_PER_MEGABYTE)} MB`;
}

function pathOf(name: string): string {
  return `/mailboxes/${encodeURIComponent(name)}`;
}

const NAMES: Readonly<Record<MailSettings['services'][number]['protocol'], string>> = {
  imap: 'IMAP',
  pop3: 'POP3',
  smtp: 'SMTP',
  sieve: 'ManageSieve',
};

/** Returns the settings as a table, and the link for Apple devices as a QR code. */
async function formatSettings(
  { username, host, services, profileUrl }: MailSettings,
  { interactive }: Pick<Terminal, 'interactive'>,
): Promise<string> {
  const rows = services.map(({ protocol, security, port }) => [
    NAMES[protocol],
    host,
    String(port),
    security === 'tls' ? 'TLS' : 'STARTTLS',
    username,
  ]);
  // This import is deferred, because no other command draws anything.
  const { default: qrcode } = await import('qrcode');
  // Terminals with dark backgrounds need the colours to show a code that cameras can read.
  const code = await qrcode.toString(profileUrl, { type: interactive ? 'terminal' : 'utf8', small: true });
  return [
    formatTable(['service', 'server', 'port', 'encryption', 'user name'], rows),
    `On an iPhone, iPad or Mac, open ${profileUrl} or scan this code:`,
    code.trimEnd(),
  ].join('\n\n');
}
