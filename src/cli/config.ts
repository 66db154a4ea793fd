/** `postrider config`: shows the example configuration and the configuration in effect. */
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { exampleConfig, listSettings } from './config-example.ts';
import { contextOf, createPrinter } from './context.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = program.command('config').description('Show the configuration.');
  config
    .command('example')
    .description('Print a configuration file with every setting, its meaning and its default.')
    .action((_: object, command: Command) => {
      const show = createPrinter(command, terminal);
      show(listSettings(), () => exampleConfig().trimEnd());
    });
  config
    .command('show')
    .description(
      'Print the configuration in effect: the defaults, overridden by the file, overridden by the environment.',
    )
    .action((_: object, command: Command) => {
      const context = contextOf(command, terminal);
      const {
        faults: _faults,
        development: _development,
        dataDirIsDefault: _isDefault,
        file: _file,
        sources: _sources,
        ...settings
      } = context.config;
      context.show(settings, () => stringify(settings).trimEnd());
    });
}
