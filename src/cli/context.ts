/** What most commands begin with: the global options, the configuration, a way to the admin API, a way to answer. */
import type { Command } from 'commander';
import { type Config, loadConfig } from '../config.ts';
import type { ControlClient } from './control-client.ts';
import { explainStartFailure } from './start-failure.ts';
import type { Terminal } from './terminal.ts';

export type Context = {
  terminal: Terminal;
  config: Config;
  /** Prints the value as JSON when `--json` was given, and as `text` otherwise. */
  show(value: unknown, text: () => string): void;
};

type GlobalOptions = { config?: string; json?: true };

export function globalOptions(command: Command): GlobalOptions {
  return command.optsWithGlobals<GlobalOptions>();
}

/** @throws ConfigError */
export function contextOf(command: Command, terminal: Terminal): Context {
  const { config } = globalOptions(command);
  return {
    terminal,
    config: loadConfig({ file: config, env: terminal.env }),
    show: (value, text) => show(command, terminal, value, text),
  };
}

export function show(command: Command, terminal: Terminal, value: unknown, text: () => string): void {
  terminal.print(globalOptions(command).json ? JSON.stringify(value, null, 2) : text());
}

/** Runs `use` with the admin API: of the running daemon, or of the database when none runs. */
export async function withControl(
  command: Command,
  terminal: Terminal,
  use: (control: ControlClient, context: Context) => Promise<void>,
): Promise<void> {
  const context = contextOf(command, terminal);
  // Loaded here: it brings the database along, and most of the time a command takes to start.
  const { openControl } = await import('./control-client.ts');
  try {
    const control = await openControl(context.config);
    await use(control, context).finally(() => control.close());
  } catch (error) {
    throw explainStartFailure(error, context.config);
  }
}
