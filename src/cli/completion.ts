/** `postrider completion`: prints the script that completes commands and options in a shell. */
import { Argument, type Command } from 'commander';
import { type DescribedCommand, type DescribedOption, describeCommands } from './describe.ts';
import type { Terminal } from './terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Adds the command to the program. */
export function addCompletionCommand(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('Print the script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: Shell) => terminal.print(SCRIPTS[shell](describeCommands(program))));
}

const SCRIPTS: Readonly<Record<Shell, (commands: readonly DescribedCommand[]) => string>> = {
  bash: (commands) => `${functionOf(commands)}\n${BASH}`,
  zsh: (commands) =>
    `#compdef postrider\nautoload -Uz bashcompinit && bashcompinit\n${functionOf(commands)}\n${BASH}`,
  fish: (commands) =>
    [FISH, ...commands.flatMap((command) => fishLines(command, globalOf(commands)))].join('\n'),
};

/** Options of the program that every command accepts, which all but `--version` are. */
function globalOf(commands: readonly DescribedCommand[]): readonly DescribedOption[] {
  return (commands[0]?.options ?? []).filter(({ name }) => name !== '--version');
}

/** Returns the function that lists the words which may follow the words of a command. */
function functionOf(commands: readonly DescribedCommand[]): string {
  const global = globalOf(commands);
  const cases = commands.map(
    (command) => `    ${quote(command.path.join(' '))}) echo ${wordsAfter(command, global)} ;;`,
  );
  const choices = commands.flatMap(({ path, options }) =>
    options
      .filter((option) => option.choices.length > 0)
      .map((option) => `    ${quote([...path, option.name].join(' '))}) echo ${option.choices.join(' ')} ;;`),
  );
  return ['_postrider_words() {', '  case "$1" in', ...[...cases, ...choices], '  esac', '}'].join('\n');
}

function wordsAfter(
  { path, options, commands }: DescribedCommand,
  global: readonly DescribedOption[],
): string {
  const all = path.length === 0 ? options : [...options, ...global];
  return [...commands, ...all.map(({ name }) => name), '--help'].join(' ');
}

/**
 * The longest words that are a command decide what may follow. A value after an option is left to the names of files. zsh runs it too, where a
 * length that begins with a letter would be a modifier.
 */
const BASH = `_postrider() {
  local word path="" next words
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$word" in -*) continue ;; esac
    next="\${path:+$path }$word"
    if [ -n "$(_postrider_words "$next")" ]; then path="$next"; fi
  done
  words="$(_postrider_words "\${path:+$path }\${COMP_WORDS[COMP_CWORD-1]}")"
  case "\${COMP_WORDS[COMP_CWORD-1]}" in -*) ;; *) words="$(_postrider_words "$path")" ;; esac
  if [ -z "$words" ]; then words="$(_postrider_words "$path")"; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _postrider postrider`;

/** The first function is true at a command that has others below it, the second within one that has none. */
const FISH = `function __postrider_words
  string match -v -- '-*' (commandline -opc)[2..-1] | string join ' '
end
function __postrider_at
  test (__postrider_words | string collect --allow-empty) = "$argv"
end
function __postrider_in
  string match -q -- "$argv*" (__postrider_words | string collect --allow-empty)
end`;

function fishLines(
  { path, options, commands }: DescribedCommand,
  global: readonly DescribedOption[],
): string[] {
  const place = commands.length > 0 ? '__postrider_at' : '__postrider_in';
  const at = `complete -c postrider -n ${quote([place, ...path].join(' '))}`;
  const all = path.length === 0 ? options : [...options, ...global];
  return [
    ...(commands.length > 0 ? [`${at} -f -a ${quote(commands.join(' '))}`] : []),
    ...all.map(({ name, description, takesValue, choices }) => {
      const values = choices.length > 0 ? ` -a ${quote(choices.join(' '))}` : '';
      return `${at} -l ${name.slice(2)}${takesValue ? ' -r' : ''}${values} -d ${quote(description)}`;
    }),
  ];
}

/** Returns text as one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
