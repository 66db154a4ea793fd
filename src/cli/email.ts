/** The commands `postrider email` show the emails of all tenants, with every attempt to deliver them. */
import type { Command } from 'commander';
import type { MessageDetails, ShownMessage } from '../queue/control/message-api.ts';
import { requestAction } from './context.ts';
import { lineText } from './conversation-text.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addEmailCommands(program: Command, terminal: Terminal): void {
  const email = program.command('email').description('Show emails of all tenants, without their content.');
  email
    .command('list')
    .description('List the newest emails.')
    .option('--tenant <tenant>', 'only emails of this tenant (id or name)')
    .option('--to <address>', 'only emails with this recipient')
    .option('--limit <number>', 'maximum number of emails, 50 by default and at most 1000')
    .action(requestAction<{ emails: ShownMessage[] }>(terminal, { request: 'GET /emails', text: table }));
  email
    .command('show')
    .description(
      'Show an email with its recipients, every attempt to deliver it with the reply of the server, and for seven days the SMTP sessions of attempts that did not deliver.',
    )
    .argument('<id>')
    .action(requestAction<MessageDetails>(terminal, { request: 'GET /emails/:name', text: details }));
}

function table({ emails }: { emails: ShownMessage[] }, { nameOf }: { nameOf: NameOf }): string {
  const rows = emails.map((one) => [
    ...[one.id, nameOf(one.tenantId), one.mode, one.kind, one.status, printable(one.sender), one.createdAt],
  ]);
  return formatList(['id', 'tenant', 'mode', 'kind', 'status', 'from', 'accepted'], rows, 'No emails.');
}

function details({ recipients, attempts, conversations, ...email }: MessageDetails): string {
  const fields = Object.entries(email).map(([name, value]) => [name, printable(String(value))]);
  const states = recipients.map((one) => [
    ...[printable(one.to), one.status, String(one.attempts), printable(one.diagnostic ?? '')],
  ]);
  const tries = attempts.map((one) => [
    ...[one.at, printable(one.to), one.outcome, one.phase, one.mx ?? '-', one.address ?? '-', one.tls ?? '-'],
    ...[`${one.durationMs} ms`, printable(one.reply ?? '')],
  ]);
  const headings = ['at', 'to', 'outcome', 'step', 'host', 'address', 'TLS', 'time', 'reply'];
  return [
    formatTable(['field', 'value'], fields),
    formatTable(['to', 'status', 'tries', 'last reply'], states),
    formatList(headings, tries, 'No attempts.'),
    ...conversations.map(conversationText),
  ].join('\n\n');
}

function conversationText({ at, site, lines }: MessageDetails['conversations'][number]): string {
  const title = `Sessions of the attempt that ended at ${at} with ${printable(site)}:`;
  return [title, ...lines.map(lineText)].join('\n');
}
