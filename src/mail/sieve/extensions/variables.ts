/**
 * Variables (RFC 5229): references in strings, the command `set` and the test `string`, where values are (RFC 6609 section 3.4), and the
 * modifiers that `set` and `extracttext` share (RFC 5435 section 6).
 */
import { MatchValue } from '../comparator.ts';
import type { Call, Extension, ScriptContext, Tag, Text } from '../definition.ts';
import { compileMatcher, countsValues, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';

type Variable = { read(run: Run): string; write(run: Run, value: string): void };

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const GLOBAL = 'global.';

/**
 * Maximum length of a value. RFC 5229 section 6 asks for 4,000 characters; a longer value is cut. Our own limit.
 */
const MAX_VALUE_CHARACTERS = 8_192;
/** Maximum number of variables of a script. RFC 5229 section 6 asks for 128. Our own limit. */
const MAX_VARIABLES = 256;

/** Returns true for a name without a namespace. */
export function isIdentifier(name: string): boolean {
  return IDENTIFIER.test(name);
}

/**
 * Returns the variable of a name in any case, which may be in the namespace `global`.
 * @throws RangeError when there can be no such variable
 */
export function variableOf(name: string, context: ScriptContext): Variable {
  const key = name.toLowerCase();
  const isInGlobal = key.startsWith(GLOBAL) && context.uses('include');
  const plain = isInGlobal ? key.slice(GLOBAL.length) : key;
  if (!isIdentifier(plain)) throw new RangeError(`\`${name}\` is not the name of a variable`);
  const isShared = isInGlobal || context.notes.globals.has(key);
  const valuesOf = (run: Run) => (isShared ? run.globals : run.variables);
  return {
    read: (run) => valuesOf(run).get(plain) ?? '',
    write(run, value) {
      const values = valuesOf(run);
      if (!values.has(plain) && values.size >= MAX_VARIABLES)
        run.fail(`a script has at most ${MAX_VARIABLES} variables`);
      values.set(plain, value.slice(0, MAX_VALUE_CHARACTERS).toWellFormed());
    },
  };
}

/**
 * Returns the variable that a command sets.
 * @throws RangeError when there can be no such variable, or the script has too many
 */
function variableToSet(name: string, context: ScriptContext): Variable {
  const variable = variableOf(name, context);
  const { variables } = context.notes;
  variables.add(name.toLowerCase());
  if (variables.size > MAX_VARIABLES) throw new RangeError(`a script has at most ${MAX_VARIABLES} variables`);
  return variable;
}

type Modifier = { name: string; precedence: number; change(value: string): string };

const lower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const upper = (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** Unreserved characters of URIs stay (RFC 3986 section 2.3). */
const RESERVED = /[^A-Za-z0-9._~-]/gu;

const encodeUrl = (text: string) =>
  text.replace(RESERVED, (character) =>
    Buffer.from(character)
      .toString('hex')
      .replace(/../g, (octet) => `%${octet.toUpperCase()}`),
  );

/** Modifiers of a higher precedence come first. Those of the same one exclude each other. */
const MODIFIERS: readonly Modifier[] = [
  { name: ':lower', precedence: 40, change: lower },
  { name: ':upper', precedence: 40, change: upper },
  { name: ':lowerfirst', precedence: 30, change: (text) => lower(text.slice(0, 1)) + text.slice(1) },
  { name: ':upperfirst', precedence: 30, change: (text) => upper(text.slice(0, 1)) + text.slice(1) },
  { name: ':quotewildcard', precedence: 20, change: (text) => text.replace(/[*?\\]/g, '\\$&') },
  { name: ':quoteregex', precedence: 20, change: (text) => text.replace(/[.[\]\\*^$+?{}()|]/g, '\\$&') },
  { name: ':encodeurl', precedence: 15, change: encodeUrl },
  { name: ':length', precedence: 10, change: (text) => String([...text].length) },
];

function tagOf({ name, precedence }: Modifier): Tag {
  return { name, group: `modifier ${precedence}` };
}

function tagsOf(isWanted: (name: string) => boolean): readonly Tag[] {
  return MODIFIERS.filter(({ name }) => isWanted(name)).map(tagOf);
}

/** Tag of the modifier that comes with notifications. */
export const ENCODE_URL_TAGS = tagsOf((name) => name === ':encodeurl');

/** Tag of the modifier that comes with regular expressions. */
export const QUOTE_REGEX_TAGS = tagsOf((name) => name === ':quoteregex');

/** Tags of the other modifiers. */
export const MODIFIER_TAGS = tagsOf((name) => name !== ':encodeurl' && name !== ':quoteregex');

/** Returns what the modifiers of a call make of a value. */
export function modifiersOf(call: Call): (value: string) => string {
  const own = MODIFIERS.filter(({ name }) => call.has(name));
  return (value) => own.reduce((text, { change }) => change(text), value);
}

/** Matches a reference. What does not fit the grammar is ordinary text. */
const REFERENCE = /\$\{((?:[A-Za-z_][A-Za-z0-9_]*\.)*(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+))\}/g;

/** Maximum index of a match variable. RFC 5229 section 6 asks for 9. Our own limit. */
const MAX_MATCH_INDEX = 99;
/** Maximum length of a string whose variables are replaced. It is above that of a header that is received. */
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
