/** Shared parts of the commands: global options, configuration, access to the admin API, and output. */
import type { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.ts';
import type { ControlClient } from './control-client.ts';
import { explainStartFailure } from './start-failure.ts';
import type { Terminal } from './terminal.ts';

type Context = {
  terminal: Terminal;
  config: Config;
  /** Prints the value as JSON when `--json` was given, and as `text` otherwise. */
  show(value: unknown, text: () => string): void;
};

type GlobalOptions = { config?: string; json?: true };

/** Returns the options that every command accepts. */
export function globalOptions(command: Command): GlobalOptions {
  return command.optsWithGlobals<GlobalOptions>();
}

/**
 * Returns the context of a command.
 * @throws ConfigError
 */
export function contextOf(command: Command, terminal: Terminal): Context {
  const { config } = globalOptions(command);
  return {
    terminal,
    config: loadConfig({ file: config, env: terminal.env }),
    show: createPrinter(command, terminal),
  };
}

/** Returns a function that prints a value: as JSON with `--json`, otherwise as text. */
export function createPrinter(command: Command, terminal: Terminal): Context['show'] {
  return (value, text) =>
    terminal.print(globalOptions(command).json ? JSON.stringify(value, null, 2) : text());
}

/**
 * Runs `use` with the admin API: of the running daemon, or of the database when none is running.
 * @throws CommandError with a message for the operator when the daemon refuses or the database cannot be opened
 */
export async function withControl(
  command: Command,
  terminal: Terminal,
  use: (control: ControlClient, context: Context) => Promise<void>,
): Promise<void> {
  const context = contextOf(command, terminal);
  // This import is deferred because it loads the database code, which takes most of the start-up time of a command.
  const { openControl } = await import('./control-client.ts');
  try {
    const control = await openControl(context.config);
    await use(control, context).finally(() => control.close());
  } catch (error) {
    throw explainStartFailure(error, context.config);
  }
}
