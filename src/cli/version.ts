/** `postrider version`: shows the versions of the program and of Node. */
import type { Command } from 'commander';
import { VERSION } from '../version.ts';
import { createPrinter } from './context.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addVersionCommand(program: Command, terminal: Terminal): void {
  program
    .command('version')
    .description('Print the versions of Postrider and of Node.')
    .action((_: object, command: Command) => {
      const { node } = process.versions;
      const show = createPrinter(command, terminal);
      show({ postrider: VERSION, node }, () => `postrider ${VERSION} (Node ${node})`);
    });
}
