/** `postrider logs`: prints lines of the log as text for people. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { errorMessage } from '../system/errors.ts';
import { formatLogLine, LOG_LEVELS, parseLogLine } from '../system/log-text.ts';
import { globalOptions } from './context.ts';
import { CommandError } from './errors.ts';
import { printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type Options = { level?: (typeof LOG_LEVELS)[number] };

/** Adds the command to the program. */
export function addLogsCommand(program: Command, terminal: Terminal): void {
  program
    .command('logs')
    .description(
      'Print lines of the log as text for people, from a file or from standard input: journalctl -u postrider -o cat -f | postrider logs',
    )
    .argument('[file]')
    .addOption(new Option('--level <level>', 'lowest level that is printed').choices([...LOG_LEVELS]))
    .action(async (file: string | undefined, { level = 'debug' }: Options, command: Command) => {
      const isJson = globalOptions(command).json === true;
      const lines = file === undefined ? terminal.readLines() : readFile(file);
      for await (const line of lines) {
        const fields = parseLogLine(line);
        if (fields !== undefined && rankOf(fields['level']) < rankOf(level)) continue;
        if (isJson) terminal.print(line);
        else if (line !== '') terminal.print(fields === undefined ? printable(line) : formatLogLine(fields));
      }
    });
}

/** Returns the rank of a level. Words that are no level count as the highest, so that nothing is hidden. */
function rankOf(level: unknown): number {
  const rank = LOG_LEVELS.indexOf(level as (typeof LOG_LEVELS)[number]);
  return rank < 0 ? LOG_LEVELS.length : rank;
}

/** @throws CommandError when the file cannot be read */
async function* readFile(file: string): AsyncIterable<string> {
  const input = createReadStream(file);
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) yield line;
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}
