/** Describes the commands of the program, so that completion and the manual page are made from them and are never out of date. */
import type { Command, Option } from 'commander';

export type DescribedOption = {
  /** Such as `--tenant <tenant>`. */
  flags: string;
  /** Such as `--tenant`. */
  name: string;
  description: string;
  takesValue: boolean;
  choices: readonly string[];
};

export type DescribedCommand = {
  /** Words after `postrider`, such as `domain add`. Empty for the program itself. */
  path: readonly string[];
  description: string;
  /** Arguments as a usage line shows them, such as `<domain>`. */
  arguments: string;
  options: readonly DescribedOption[];
  /** Names of the commands below this one. */
  commands: readonly string[];
};

/** Returns the program and all commands below it, each before those below it. */
export function describeCommands(program: Command): DescribedCommand[] {
  return describe(program, []);
}

function describe(command: Command, path: readonly string[]): DescribedCommand[] {
  const described = {
    path,
    description: command.description(),
    arguments: command.registeredArguments.map(showArgument).join(' '),
    options: command.options.filter(({ hidden }) => !hidden).map(describeOption),
    commands: command.commands.map((one) => one.name()),
  };
  return [described, ...command.commands.flatMap((one) => describe(one, [...path, one.name()]))];
}

function showArgument(argument: Command['registeredArguments'][number]): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function describeOption(option: Option): DescribedOption {
  const { flags, description, required, optional, argChoices = [] } = option;
  const takesValue = required || optional;
  return { flags, name: option.long ?? flags, description, takesValue, choices: argChoices };
}
