/** The commands `postrider mailbox import` and `export` move mail from and to maildirs and mbox files, and from other servers. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ListedFolder } from '../accounts/contents.ts';
import { readArchive, UnknownArchiveError } from '../mailbox-imports/archive/read.ts';
import {
  type ExportProgress,
  exportMessages,
  FORMATS,
  OtherExportError,
} from '../mailbox-imports/transfer/export.ts';
import { type ImportProgress, importMessages } from '../mailbox-imports/transfer/import.ts';
import { RECORDS_TYPE } from '../mailbox-imports/transfer/records.ts';
import { realClock } from '../system/clock.ts';
import { errorCode } from '../system/errors.ts';
import { withControl } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import { type ImapOptions, importByImap } from './mailbox-imports.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to those of `postrider mailbox`. */
export function addTransferCommands(mailbox: Command, terminal: Terminal): void {
  addImport(mailbox, terminal);
  addExport(mailbox, terminal);
}

function addImport(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('import')
    .description(
      'Import a maildir, an mbox file or a directory of mbox files, or with --imap all mail of a user of another server, with folders, flags and dates. Run it again to continue an import that was interrupted, or to add what is new: no message is imported twice.',
    )
    .argument('<mailbox>', 'address or id')
    .argument('[path]', 'maildir, mbox file or directory of mbox files')
    .option('--folder <name>', 'import into this folder, and other folders of the archive below it')
    .option('--imap <host>', 'import from this IMAP server; the password is read from standard input')
    .option('--user <name>', 'name with which the owner logs in there')
    .option('--port <port>', 'port of the server; without it, 993, and 143 for STARTTLS', toPort)
    .option('--starttls', 'encrypt the connection by STARTTLS')
    .option('--background', 'do not wait for the end of an import from a server')
    .action((...[address, path, options, command]: Arguments<ImportOptions, string | undefined>) =>
      withControl(command, terminal, async (control, { show }) => {
        const { folder, imap, user } = options;
        if (imap !== undefined) {
          if (path !== undefined || folder !== undefined || user === undefined)
            throw new UsageError('--imap needs --user, and goes with neither a path nor --folder');
          const wanted = { mailbox: address, options: { ...options, imap, user } };
          const { value, text } = await importByImap(control, terminal, wanted);
          show(value, () => text);
          return;
        }
        if (path === undefined) throw new UsageError('A path or --imap says what is imported');
        const url = pathOf(address);
        const target = {
          findMissing: async (deliveryIds: readonly string[]) =>
            (await control.request<{ missing: string[] }>('POST', `${url}/missing`, { deliveryIds })).missing,
          add: (bytes: Iterable<Buffer>) =>
            control.upload<{ added: number }>(`${url}/messages`, { type: RECORDS_TYPE, bytes }),
        };
        const done = await transfer<ImportProgress>(
          terminal,
          (onProgress) => importMessages(target, readArchive(path, folder), onProgress),
          ({ read: count, readBytes, added: imported }) =>
            `${counted(count)} read (${megabytes(readBytes)}), ${imported} imported`,
        );
        const { read, added, tooLarge } = done;
        const left = read - added - tooLarge;
        const notes = [
          ...(left > 0 ? [`${left} were there already`] : []),
          ...(tooLarge > 0 ? [`${tooLarge} are too large and were left out`] : []),
        ];
        show(done, () => [`Imported ${counted(added)} into ${address}`, ...notes].join('; '));
      }),
    );
}

function addExport(mailbox: Command, terminal: Terminal): void {
  mailbox
    .command('export')
    .description(
      'Export all messages with folders, flags and dates. Run it again to continue an export that was interrupted, or to add the messages that have come since.',
    )
    .argument('<mailbox>', 'address or id')
    .argument(
      '<directory>',
      'directory of the maildir or of the mbox files; it is created when it does not exist',
    )
    .addOption(
      new Option('--format <format>', 'format of the archive').choices([...FORMATS]).default('maildir'),
    )
    .action((...[address, directory, { format }, command]: Arguments<Format>) =>
      withControl(command, terminal, async (control, { show, config: { hostname } }) => {
        const url = pathOf(address);
        const source = {
          listFolders: async () =>
            (await control.request<{ folders: ListedFolder[] }>('GET', `${url}/folders`)).folders,
          read: ({ folder, after }: { folder: string; after: number }) =>
            control.download(`${url}/messages?${new URLSearchParams({ folder, after: String(after) })}`),
        };
        const done = await transfer<ExportProgress>(
          terminal,
          (onProgress) => exportMessages(source, { directory, format, address, hostname }, onProgress),
          ({ messages, bytes }) => `${counted(messages)} exported (${megabytes(bytes)})`,
        );
        show(done, () => `Exported ${counted(done.messages)} of ${address} to ${directory}`);
      }),
    );
}

/** Arguments of an action: a mailbox, a path, the options, and the command itself. */
type Arguments<Options, Path = string> = [string, Path, Options, Command];

type ImportOptions = Partial<ImapOptions> & { folder?: string };

type Format = { format: (typeof FORMATS)[number] };

/**
 * Reads the number of a port.
 * @throws InvalidArgumentError
 */
function toPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= MAX_PORT) return port;
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_PORT}.`);
}

/** Port numbers have 16 bits. */
const MAX_PORT = 65_535;

function pathOf(address: string): string {
  return `/mailboxes/${encodeURIComponent(address)}`;
}

/** Time between two lines about the progress, in milliseconds. */
const REPORT_INTERVAL_MS = 5_000;

const BYTES_PER_MEGABYTE = 1_000_000;

function counted(messages: number): string {
  return messages === 1 ? '1 message' : `${messages} messages`;
}

function megabytes(bytes: number): string {
  return `${(bytes / BYTES_PER_MEGABYTE).toFixed(1)} MB`;
}

/**
 * Runs a transfer. It prints the progress on standard error from time to time, and when the transfer fails.
 * @throws CommandError for what the operator can act on
 */
async function transfer<Progress>(
  terminal: Terminal,
  run: (onProgress: (progress: Progress) => void) => Promise<Progress>,
  describe: (progress: Progress) => string,
): Promise<Progress> {
  let last: Progress | undefined;
  let printedAt = realClock.elapsed();
  try {
    return await run((progress) => {
      last = progress;
      if (realClock.elapsed() - printedAt < REPORT_INTERVAL_MS) return;
      printedAt = realClock.elapsed();
      terminal.complain(describe(progress));
    });
  } catch (error) {
    if (last !== undefined) terminal.complain(`${describe(last)}; run the same command again to continue`);
    const message = explain(error);
    throw message === undefined ? error : new CommandError(message, { cause: error });
  }
}

/** Returns what the operator can do something about; undefined for a bug. */
function explain(error: unknown): string | undefined {
  if (error instanceof OtherExportError || error instanceof UnknownArchiveError) return error.message;
  return explainFileError(error);
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not change it',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EISDIR: 'it is a directory, not a file',
  EEXIST: 'there is a file with this name',
  ELOOP: 'the symbolic links of the path lead in a circle',
  ENAMETOOLONG: 'a name in the path is too long',
  EROFS: 'its file system can only be read',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk quota is used up',
};

/** Returns a message such as `/mail/old.mbox: there is no such file or directory`; undefined for any other error. */
export function explainFileError(error: unknown): string | undefined {
  const cause = new Map(Object.entries(CAUSES)).get(errorCode(error) ?? '');
  if (cause === undefined || !(error instanceof Error) || !('path' in error)) return undefined;
  return `${String(error.path)}: ${cause}`;
}
