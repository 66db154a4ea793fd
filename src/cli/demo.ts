/** `postrider demo`: the complete path of an email on this machine alone (demo/run.ts). */
import type { Command } from 'commander';
import { globalOptions } from './context.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addDemoCommand(program: Command, terminal: Terminal): void {
  program
    .command('demo')
    .description(
      'Show the whole path of an email on 127.0.0.1, its answer and a bounce, with a DNS server, a mail server and a webhook receiver.',
    )
    .option('--once', 'stop after the first email, with exit code 0 if every step succeeded')
    .action(async ({ once }: { once?: true }, command: Command) => {
      const { runDemo } = await import('./demo/run.ts');
      const { json } = globalOptions(command);
      const failed = await runDemo(terminal, { once: once ?? false, json: json ?? false });
      if (failed.length > 0) throw new CommandError(`these checks failed: ${failed.join(', ')}`);
    });
}
