/**
 * The match type `:regex` and the modifier `:quoteregex` (draft-ietf-sieve-regex). Expressions are those of RE2, whose time is linear in
 * the text: they have no back-references and do not look around, and a script that uses these is refused.
 */
import { RE2JS, RE2JSException } from 're2js';
import { type Comparator, OCTET } from '../comparator.ts';
import { type Extension, MATCHING_TESTS, type MatchType } from '../definition.ts';
import type { Run } from '../run/run.ts';
import { QUOTE_REGEX_TAGS } from './variables.ts';

/** Maximum length of an expression. Those of scripts have some dozens of characters. */
const MAX_EXPRESSION_CHARACTERS = 1_024;
/** Maximum number of instructions of a compiled expression, by which the time for each character of a text is bounded. */
const MAX_INSTRUCTIONS = 1_000;
/**
 * Maximum number of characters and instructions of the constant expressions of a script. A compiled script is kept, and each instruction
 * takes some 80 bytes. A hundred expressions of scripts have some thousands.
 */
const MAX_SIZE_IN_SCRIPT = 20_000;
/** Number of steps for each character of an expression that is compiled during a run. Classes of Unicode take up to 250 microseconds. */
const STEPS_PER_COMPILED_CHARACTER = 80;
/** Number of instructions and characters, multiplied, that take a step. The slowest expressions take about 3 microseconds for them. */
const WORK_PER_STEP = 64;
/** Number of match variables that are set (RFC 5229 section 6 asks for 9). */
const MAX_GROUPS = 99;

const UNSUPPORTED = 'back-references and look-around are not supported';

/**
 * Returns the compiled expression.
 * @throws RangeError when it is not valid, or too large
 */
function compileExpression(expression: string, comparator: Comparator): RE2JS {
  if (expression.length > MAX_EXPRESSION_CHARACTERS)
    throw new RangeError(`a regular expression has at most ${MAX_EXPRESSION_CHARACTERS} characters`);
  // POSIX takes the longest of the leftmost matches.
  const flags = RE2JS.LONGEST_MATCH | RE2JS.DOTALL | (comparator === OCTET ? 0 : RE2JS.CASE_INSENSITIVE);
  const compiled = parseExpression(expression, flags);
  if (compiled.programSize() > MAX_INSTRUCTIONS)
    throw new RangeError(`the regular expression ${JSON.stringify(expression)} is too complex`);
  return compiled;
}

function parseExpression(expression: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(expression, flags);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new RangeError(
      `${JSON.stringify(expression)} is not a regular expression that the server can use (${error.message}); ${UNSUPPORTED}`,
    );
  }
}

const REGEX: MatchType = {
  needsSubstrings: true,
  compile({ call, comparator, keys }) {
    const compile = (key: string) => compileExpression(key, comparator);
    const constants = keys.constants?.map((key) => {
      if (call.notes.regexSize > MAX_SIZE_IN_SCRIPT)
        throw call.fault(
          `the regular expressions of a script have a size of at most ${MAX_SIZE_IN_SCRIPT}`,
          'keys',
        );
      call.notes.regexSize += key.length;
      try {
        const compiled = compile(key);
        call.notes.regexSize += compiled.programSize();
        return compiled;
      } catch (error) {
        if (error instanceof RangeError) throw call.fault(error.message, 'keys');
        throw error;
      }
    });
    const keepsValues = call.uses('variables');
    return (run, values) => {
      const expressions = constants ?? keys.read(run).map((key) => compileInRun(run, key, compile));
      for (const { text } of values) {
        for (const expression of expressions) {
          const matched = findMatch(run, expression, text);
          if (!matched) continue;
          if (keepsValues) run.matchValues = matched;
          return true;
        }
      }
      return false;
    };
  },
};

/** Compiles an expression with variables, which counts as work each time. */
function compileInRun(run: Run, key: string, compile: (expression: string) => RE2JS): RE2JS {
  run.spend(key.length * STEPS_PER_COMPILED_CHARACTER);
  try {
    return compile(key);
  } catch (error) {
    if (error instanceof RangeError) return run.fail(error.message);
    throw error;
  }
}

/** Returns the text that matched and those of the groups; undefined when there is no match. */
function findMatch(run: Run, expression: RE2JS, text: string): readonly string[] | undefined {
  run.spend(1 + Math.floor((expression.programSize() * text.length) / WORK_PER_STEP));
  const matcher = expression.matcher(text);
  if (!matcher.find()) return undefined;
  const groups = Math.min(matcher.groupCount(), MAX_GROUPS);
  return Array.from({ length: groups + 1 }, (_, group) => matcher.group(group) ?? '');
}

export const REGEX_MATCH: Extension = {
  name: 'regex',
  tags: [
    { on: MATCHING_TESTS, tags: [{ name: ':regex', group: 'match type', matchType: REGEX }] },
    { on: ['set'], tags: QUOTE_REGEX_TAGS },
  ],
};
