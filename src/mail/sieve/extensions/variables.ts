/** Variables: references in strings, the command `set` and the test `string` (RFC 5229). */
import type { Call, Extension, ScriptContext } from '../compile/definition.ts';
import type { Text } from '../compile/text.ts';
import { MatchValue } from '../match/comparator.ts';
import { countsValues } from '../match/counts.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import { MODIFIER_TAGS, modifiersOf } from './set-modifiers.ts';
import { type Variable, variableOf, variableToSet } from './variable-name.ts';

/** Matches a reference. What does not fit the grammar is ordinary text. */
const REFERENCE = /\$\{((?:[A-Za-z_][A-Za-z0-9_]*\.)*(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+))\}/g;

/** Maximum index of a match variable. RFC 5229 section 6 asks for 9. Our own limit. */
const MAX_MATCH_INDEX = 99;
/** Maximum length of a string whose variables are replaced. Our own limit, above that of a header that is received. */
const MAX_TEXT_CHARACTERS = 512 * 1024;

type Read = (run: Run) => string;

function parseReferences(value: string, context: ScriptContext): Text | undefined {
  const pieces: (string | Read)[] = [];
  let at = 0;
  for (const match of value.matchAll(REFERENCE)) {
    const [whole, name = ''] = match;
    pieces.push(value.slice(at, match.index), readerOf(name, context));
    at = match.index + whole.length;
  }
  if (at === 0) return undefined;
  pieces.push(value.slice(at));
  return { source: value, constant: undefined, read: (run) => join(pieces, run) };
}

/** Strings may refer to long values many times, so that the length of each is a limit and counts as work. */
function join(pieces: readonly (string | Read)[], run: Run): string {
  let text = '';
  for (const piece of pieces) {
    text += typeof piece === 'string' ? piece : piece(run);
    if (text.length > MAX_TEXT_CHARACTERS) run.fail('a string becomes too long by its variables');
  }
  run.spendOnText(text.length);
  return text;
}

function readerOf(name: string, context: ScriptContext): Read {
  if (!/^[0-9]+$/.test(name)) return variableOf(name, context).read;
  const index = Number(name);
  if (index > MAX_MATCH_INDEX) throw new RangeError(`match variables go up to ${MAX_MATCH_INDEX}`);
  return (run) => run.matchValues[index] ?? '';
}

/**
 * Returns the variable that an argument of a command names.
 * @throws ScriptFault when there can be no such variable
 */
export function variableArgument(call: Call, name: string): Variable {
  try {
    return variableToSet(call.constant(name), call);
  } catch (error) {
    if (error instanceof RangeError) throw call.fault(error.message, name);
    throw error;
  }
}

export const VARIABLES: Extension = {
  name: 'variables',
  changesStrings: true,
  parse: parseReferences,
  commands: [
    {
      name: 'set',
      tags: MODIFIER_TAGS,
      parameters: [
        { name: 'name', type: 'constant' },
        { name: 'value', type: 'text' },
      ],
      compile(call) {
        const variable = variableArgument(call, 'name');
        const modify = modifiersOf(call);
        const value = call.text('value');
        return (run) => {
          variable.write(run, modify(value.read(run)));
          return undefined;
        };
      },
    },
  ],
  tests: [
    {
      name: 'string',
      tags: MATCH_TAGS,
      parameters: [{ name: 'source', type: 'texts' }, KEYS],
      compile(call) {
        const sources = call.texts('source');
        const matches = compileMatcher(call);
        const isCount = countsValues(call);
        return (run) => {
          const texts = sources.read(run).filter((text) => !isCount || text !== '');
          return matches(
            run,
            texts.map((text) => new MatchValue(text)),
          );
        };
      },
    },
  ],
};
