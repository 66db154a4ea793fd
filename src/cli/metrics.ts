/** `postrider metrics`: prints the metrics of the daemon. */
import type { Command } from 'commander';
import { withControl } from './context.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addMetricsCommand(program: Command, terminal: Terminal): void {
  program
    .command('metrics')
    .description('Print the metrics of the daemon, as Prometheus reads them.')
    .action((_: object, command: Command) =>
      withControl(command, terminal, (control) => terminal.write(control.download('/metrics'))),
    );
}
