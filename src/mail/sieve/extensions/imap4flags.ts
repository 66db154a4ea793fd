/** Flags of messages: the actions `setflag`, `addflag` and `removeflag`, the test `hasflag`, and the tag `:flags` (RFC 5232). */
import { MatchValue } from '../comparator.ts';
import type { Call, CommandDefinition, Extension, Parameter } from '../definition.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import { variableArgument, variableOf } from './variables.ts';

type Change = (flags: readonly string[], given: readonly string[]) => readonly string[];

const CHANGES: Readonly<Record<string, Change>> = {
  setflag: (_flags, given) => given,
  addflag: (flags, given) => readFlags([...flags, ...given]),
  removeflag(flags, given) {
    const removed = new Set(given.map((flag) => flag.toLowerCase()));
    return flags.filter((flag) => !removed.has(flag.toLowerCase()));
  },
};

const VARIABLE: Parameter = { name: 'variable', type: 'constant', isOptional: true };

/** Flags of a named variable, or those of messages that are stored without flags of their own. */
type FlagList = { read(run: Run): readonly string[]; write(run: Run, flags: readonly string[]): void };

function flagListOf(call: Call): FlagList {
  if (!call.has(VARIABLE.name))
    return {
      read: (run) => run.flags,
      write(run, flags) {
        run.flags = flags;
      },
    };
  requireVariables(call, VARIABLE.name);
  const variable = variableArgument(call, VARIABLE.name);
  return {
    read: (run) => readFlags([variable.read(run)]),
    write: (run, flags) => variable.write(run, flags.join(' ')),
  };
}

function requireVariables(call: Call, name: string): void {
  if (!call.uses('variables')) throw call.fault('a variable needs `require "variables"`', name);
}

const COMMANDS: readonly CommandDefinition[] = Object.entries(CHANGES).map(([name, change]) => ({
  name,
  parameters: [VARIABLE, { name: 'flags', type: 'texts' }],
  compile(call) {
    const list = flagListOf(call);
    const flags = call.texts('flags');
    return (run) => {
      list.write(run, change(list.read(run), readFlags(flags.read(run))));
      return undefined;
    };
  },
}));

export const IMAP4FLAGS: Extension = {
  name: 'imap4flags',
  commands: COMMANDS,
  tests: [
    {
      name: 'hasflag',
      tags: MATCH_TAGS,
      parameters: [{ name: 'variables', type: 'constants', isOptional: true }, KEYS],
      compile(call) {
        const lists = listsOf(call);
        const keys = call.texts(KEYS.name);
        const split = (texts: readonly string[]) =>
          texts.flatMap((text) => text.split(' ').filter((flag) => flag !== ''));
        const matches = compileMatcher(call, {
          constants: keys.constants && split(keys.constants),
          read: (run) => split(keys.read(run)),
        });
        return (run) => {
          const flags = lists.flatMap((list) => list(run));
          return matches(
            run,
            flags.map((flag) => new MatchValue(flag)),
          );
        };
      },
    },
  ],
  tags: [
    {
      on: ['keep', 'fileinto', 'vacation', 'notify'],
      tags: [
        {
          name: ':flags',
          value: 'texts',
          modify(call) {
            const flags = call.texts(':flags');
            return (options, run) => {
              options.flags = readFlags(flags.read(run));
            };
          },
        },
      ],
    },
  ],
};

function listsOf(call: Call): readonly ((run: Run) => readonly string[])[] {
  if (!call.has('variables')) return [(run) => run.flags];
  requireVariables(call, 'variables');
  return call.constants('variables').map((name) => {
    try {
      const variable = variableOf(name, call);
      return (run: Run) => readFlags([variable.read(run)]);
    } catch (error) {
      if (error instanceof RangeError) throw call.fault(error.message, 'variables');
      throw error;
    }
  });
}

/** System flags that a script may set (RFC 9051 section 2.3.2), in lower case. */
const SYSTEM_FLAGS: ReadonlySet<string> = new Set([
  '\\answered',
  '\\flagged',
  '\\deleted',
  '\\seen',
  '\\draft',
]);
/** Matches a keyword: an atom (RFC 9051 section 9). */
const KEYWORD = /^[!#$&'+,\-./0-9:;<=>?@A-Z[^_`a-z|}~]+$/;

/** Maximum number of flags in one list, and length of a keyword. */
const MAX_FLAGS = 100;
const MAX_KEYWORD_CHARACTERS = 255;

/** Returns the flags in strings of flags and spaces, each once. Those that are not valid are left out. */
function readFlags(texts: readonly string[]): readonly string[] {
  const flags = new Map<string, string>();
  for (const flag of texts.flatMap((text) => text.split(' '))) {
    const key = flag.toLowerCase();
    if (!isFlag(flag) || flags.has(key)) continue;
    flags.set(key, flag);
    if (flags.size === MAX_FLAGS) break;
  }
  return [...flags.values()];
}

function isFlag(flag: string): boolean {
  if (flag.startsWith('\\')) return SYSTEM_FLAGS.has(flag.toLowerCase());
  return KEYWORD.test(flag) && flag.length <= MAX_KEYWORD_CHARACTERS;
}
