/** Imports from other servers: `postrider mailbox import --imap` starts one and follows it, and `postrider mailbox imports` lists and stops them. */
import type { Command } from 'commander';
import type { OperatorImport, OperatorImportWithErrors } from '../mailbox-imports/admin-api.ts';
import { realClock, sleepInForeground } from '../system/clock.ts';
import { errorCode } from '../system/errors.ts';
import { requestAction } from './context.ts';
import type { ControlClient } from './control-client.ts';
import { CommandError } from './errors.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Options of `mailbox import --imap`. */
export type ImapOptions = { imap: string; user: string; port?: number; starttls?: true; background?: true };

/** Time between two looks at a running import, which doubles from the first to the last value, in milliseconds. */
const MIN_LOOK_INTERVAL_MS = 20;
const MAX_LOOK_INTERVAL_MS = 1_000;
/** Time between two lines about the progress, in milliseconds. */
const REPORT_INTERVAL_MS = 5_000;
/** Maximum number of errors that are printed. `mailbox imports show` lists all. */
const MAX_PRINTED_ERRORS = 10;
const BYTES_PER_MEGABYTE = 1_000_000;

/**
 * Starts an import with the password from standard input, and follows it to its end unless it runs in the background. Returns the
 * import, and the text about it.
 * @throws CommandError when the import fails
 */
export async function importByImap(
  control: ControlClient,
  terminal: Terminal,
  { mailbox, options }: { mailbox: string; options: ImapOptions },
): Promise<{ value: OperatorImport; text: string }> {
  const { imap: host, user, port, starttls, background } = options;
  const password = await terminal.readPassword(`Password of ${user} at ${host}: `);
  const path = `/mailboxes/${encodeURIComponent(mailbox)}/imports`;
  const started = await control.request<OperatorImport>('POST', path, {
    host,
    user,
    password,
    ...(port !== undefined && { port }),
    ...(starttls && { security: 'starttls' }),
  });
  if (background) return { value: started, text: `Import ${started.id} is queued` };
  const ended = await follow(control, terminal, started.id);
  for (const line of ended.errors.slice(0, MAX_PRINTED_ERRORS).map(errorLine)) terminal.complain(line);
  if (ended.status === 'failed')
    throw new CommandError(`The import failed: ${ended.error}; ${progressOf(ended)}`);
  return { value: ended, text: `Imported mail of ${user} into ${mailbox}: ${progressOf(ended)}` };
}

async function follow(
  control: ControlClient,
  terminal: Terminal,
  id: string,
): Promise<OperatorImportWithErrors> {
  let printedAt = realClock.elapsed();
  for (let waitMs = MIN_LOOK_INTERVAL_MS; ; waitMs = Math.min(2 * waitMs, MAX_LOOK_INTERVAL_MS)) {
    const now = await look(control, id);
    if (now.finishedAt !== null) return now;
    if (realClock.elapsed() - printedAt >= REPORT_INTERVAL_MS) {
      printedAt = realClock.elapsed();
      terminal.complain(`${progressOf(now)}${now.error === null ? '' : `; waiting: ${now.error}`}`);
    }
    await sleepInForeground(waitMs);
  }
}

async function look(control: ControlClient, id: string): Promise<OperatorImportWithErrors> {
  try {
    return await control.request<OperatorImportWithErrors>('GET', pathOf(id));
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || !LOST.has(code)) throw error;
    throw new CommandError(`The daemon has stopped. It goes on with the import ${id} when it runs again`);
  }
}

/** Codes of a connection to a daemon that has stopped. */
const LOST = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE']);

function progressOf({
  folders,
  foldersDone,
  imported,
  importedBytes,
  known,
  failed,
}: OperatorImport): string {
  const size = `${(importedBytes / BYTES_PER_MEGABYTE).toFixed(1)} MB`;
  const notes = [
    ...(known > 0 ? [`${known} were there already`] : []),
    ...(failed > 0 ? [`${failed} could not be imported`] : []),
  ];
  return [`${imported} imported (${size}), ${foldersDone} of ${folders} folders`, ...notes].join('; ');
}

function errorLine({ folder, uid, message }: OperatorImportWithErrors['errors'][number]): string {
  return `${printable(folder)}${uid === 0 ? '' : ` UID ${uid}`}: ${printable(message)}`;
}

/** Adds the commands to those of `postrider mailbox`. */
export function addImportCommands(mailbox: Command, terminal: Terminal): void {
  const imports = mailbox.command('imports').description('List and stop imports from other servers.');
  imports
    .command('list')
    .description('List the imports of a mailbox, those that ended in the last 30 days among them.')
    .argument('<mailbox>', 'address or id')
    .action(
      requestAction<OperatorImport[]>(terminal, {
        request: 'GET /mailboxes/:name/imports',
        text: (listed) => formatList(HEADINGS, listed.map(toRow), 'No imports.'),
      }),
    );
  imports
    .command('show')
    .description('Show an import, and what could not be imported.')
    .argument('<id>', 'id of the import')
    .action(
      requestAction<OperatorImportWithErrors>(terminal, {
        request: 'GET /mailbox-imports/:name',
        text: (found) =>
          [formatTable(HEADINGS, [toRow(found)]), found.error ?? '', ...found.errors.map(errorLine)]
            .filter((line) => line !== '')
            .join('\n'),
      }),
    );
  imports
    .command('delete')
    .description('Delete an import. One that runs is stopped; the messages that it has imported stay.')
    .argument('<id>', 'id of the import')
    .option('--yes', 'delete without asking')
    .action(
      requestAction<OperatorImport>(terminal, {
        request: 'DELETE /mailbox-imports/:name',
        question: (id) => `Delete ${id}? If it runs, it is stopped.`,
        text: ({ id }) => `Deleted ${id}`,
      }),
    );
}

const HEADINGS = ['id', 'status', 'server', 'user', 'imported', 'known', 'failed'];

function toRow({ id, status, reason, host, user, imported, known, failed }: OperatorImport): string[] {
  return [
    id,
    reason === null ? status : `${status} (${reason})`,
    host,
    printable(user),
    ...[imported, known, failed].map(String),
  ];
}

function pathOf(id: string): string {
  return `/mailbox-imports/${encodeURIComponent(id)}`;
}
