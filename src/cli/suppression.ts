/** `postrider suppression`: the addresses that the mail of a tenant is never sent to. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { showImport } from '../imports/schemas.ts';
import type { showSuppression } from '../suppressions/show.ts';
import { errorMessage } from '../system/errors.ts';
import { requestAction, withControl } from './context.ts';
import { CommandError } from './errors.ts';
import { addSuppressionReview } from './suppression-review.ts';
import { formatList, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type Suppression = ReturnType<typeof showSuppression>;
type Import = ReturnType<typeof showImport>;
type Options = { tenant?: string; reason?: string };

const TENANT = [
  '--tenant <tenant>',
  'id or name of the tenant; it may be left out while there is only one',
] as const;

function reasonOption(description: string): Option {
  return new Option('--reason <reason>', description).choices([
    'manual',
    'bounce',
    'complaint',
    'unsubscribe',
  ]);
}

/** Adds the commands to the program. */
export function addSuppressionCommands(program: Command, terminal: Terminal): void {
  const suppression = program
    .command('suppression')
    .description('Manage the addresses that mail is never sent to.');
  suppression
    .command('add')
    .description('Suppress an address.')
    .argument('<address>')
    .option(...TENANT)
    .addOption(reasonOption('why; without it, manual'))
    .action((email: string, options: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const body = { email, ...options };
        const added = await control.request<Suppression & { created: boolean }>(
          'POST',
          '/suppressions',
          body,
        );
        show(
          added,
          () =>
            `${added.email} ${added.created ? 'is suppressed' : 'was suppressed already'} (${added.reason})`,
        );
      }),
    );
  suppression
    .command('list')
    .description('List the newest suppressions of a tenant, at most 1,000.')
    .option(...TENANT)
    .option('--email <address>', 'only this address')
    .addOption(reasonOption('only those with this reason'))
    .action(requestAction(terminal, { request: 'GET /suppressions', text: suppressionTable }));
  suppression
    .command('remove')
    .description('Remove an address from the list, so that mail is sent to it again.')
    .argument('<address>', 'address, or id of the suppression')
    .option(...TENANT)
    .action(
      requestAction<{ removed: string }>(terminal, {
        request: 'DELETE /suppressions/:name',
        text: ({ removed }) => `${removed} is not suppressed any more`,
      }),
    );
  addImport(suppression, terminal);
  addSuppressionReview(suppression, terminal);
}

function addImport(suppression: Command, terminal: Terminal): void {
  suppression
    .command('import')
    .description(
      'Import a CSV file of addresses, such as the export of another service. The daemon imports its rows.',
    )
    .argument('<file>')
    .option(...TENANT)
    .addOption(reasonOption('reason for rows that name none; without it, manual'))
    .action((file: string, options: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        await requireFile(file);
        const query = new URLSearchParams(options).toString();
        const path = query === '' ? '/suppressions/imports' : `/suppressions/imports?${query}`;
        const made = await control.upload<Import>(path, { type: 'text/csv', bytes: createReadStream(file) });
        show(made, () => `Import ${made.id} waits; "postrider suppression imports" shows how far it is`);
      }),
    );
  suppression
    .command('imports')
    .description('List the imports of suppressions of a tenant, and how far they are.')
    .option(...TENANT)
    .action(requestAction(terminal, { request: 'GET /suppressions/imports', text: importTable }));
}

/**
 * Checks that the file can be read before a request begins.
 * @throws CommandError
 */
async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw new CommandError(`${file} cannot be read: ${errorMessage(error)}`);
  });
  if (!found.isFile()) throw new CommandError(`${file} is not a file`);
}

function suppressionTable({
  suppressions,
  hasMore,
}: {
  suppressions: Suppression[];
  hasMore: boolean;
}): string {
  const rows = suppressions.map(({ id, email, reason, createdAt, diagnostic }) => [
    ...[id, email, reason, createdAt],
    printable(diagnostic ?? ''),
  ]);
  const text = formatList(['id', 'email', 'reason', 'created', 'reply'], rows, 'No address is suppressed.');
  return hasMore ? `${text}\nThere are more: the export of the API has all.` : text;
}

function importTable({ imports }: { imports: Import[] }): string {
  const rows = imports.map(({ id, status, rows: read, created, updated, skipped, failed, error }) => [
    ...[id, status, String(read), String(created), String(updated), String(skipped), String(failed)],
    printable(error ?? ''),
  ]);
  const headings = ['id', 'status', 'rows', 'added', 'updated', 'skipped', 'failed', 'error'];
  return formatList(headings, rows, 'No file of suppressions was imported.');
}
