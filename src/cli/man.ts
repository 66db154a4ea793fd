/** `postrider man`: prints the manual page (man(7)), made from the commands. */
import type { Command } from 'commander';
import { VERSION } from '../version.ts';
import { type DescribedCommand, describeCommands } from './describe.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addManCommand(program: Command, terminal: Terminal): void {
  program
    .command('man')
    .description('Print the manual page: postrider man > /usr/local/share/man/man1/postrider.1')
    .action(() => terminal.print(manualPage(describeCommands(program))));
}

/** Returns the manual page in the macros of man(7). */
function manualPage(commands: readonly DescribedCommand[]): string {
  const [program, ...others] = commands;
  const leaves = others.filter((command) => command.commands.length === 0);
  return [
    `.TH POSTRIDER 1 "" "Postrider ${VERSION}" "Postrider"`,
    '.SH NAME',
    `postrider \\- ${roff(program?.description ?? '')}`,
    '.SH SYNOPSIS',
    '.B postrider',
    '[\\fIoptions\\fR] \\fIcommand\\fR [\\fIargument\\fR ...]',
    '.SH OPTIONS',
    ...(program?.options ?? []).flatMap(optionLines),
    '.SH COMMANDS',
    ...leaves.flatMap(commandLines),
    '.SH EXIT STATUS',
    '0 for success, 1 for a failure, and 2 for wrong usage.',
    '.SH FILES',
    '.TP',
    '.I control.sock',
    'The socket of a running daemon, in its data directory. Without a daemon, most commands open the database themselves.',
  ].join('\n');
}

function commandLines({ path, description, arguments: given, options }: DescribedCommand): string[] {
  const usage = ['postrider', ...path, ...(given === '' ? [] : [given])].join(' ');
  return [`.SS ${roff(usage)}`, roff(description), ...options.flatMap(optionLines)];
}

function optionLines({ flags, description, choices }: DescribedCommand['options'][number]): string[] {
  const values = choices.length > 0 ? ` One of: ${choices.join(', ')}.` : '';
  return ['.TP', `.B ${roff(flags)}`, roff(`${description}.${values}`)];
}

/** Returns text that the macros do not read as their own: hyphens, backslashes, letters beyond ASCII, and a dot or apostrophe at the beginning. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(
      /[^\n -~]/gu,
      (letter) => `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^(?=[.'])/, '\\&');
}
