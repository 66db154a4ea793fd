/** `postrider demo`: the complete path of an email on this machine alone (demo/run.ts). */
import type { Command } from 'commander';
import { globalOptions } from './context.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addDemoCommand(program: Command, terminal: Terminal): void {
  program
    .command('demo')
    .description('Send an email through a daemon, a DNS, a mail server and a webhook receiver on 127.0.0.1.')
    .option('--once', 'stop after the first email; exit code 0 only if all was as it should be')
    .action(async ({ once }: { once?: true }, command: Command) => {
      const { runDemo } = await import('./demo/run.ts');
      const { json } = globalOptions(command);
      const failed = await runDemo(terminal, { once: once ?? false, json: json ?? false });
      if (failed.length > 0) throw new CommandError(`not as it should be: ${failed.join(', ')}`);
    });
}
