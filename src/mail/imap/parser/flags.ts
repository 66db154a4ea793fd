/** Reads flags (RFC 9051 section 2.3.2): system flags in their usual spelling, and keywords as the client wrote them. */
import { bad } from '../command-error.ts';
import { Cursor } from './cursor.ts';

const SYSTEM_FLAGS = new Map(
  ['Answered', 'Flagged', 'Deleted', 'Seen', 'Draft'].map((name) => [name.toUpperCase(), `\\${name}`]),
);
/** Maximum length of a keyword. */
const MAX_KEYWORD_CHARACTERS = 255;
/** Maximum number of flags in one command. Few clients have more than a dozen. */
const MAX_FLAGS = 128;

/** Returns the flags of `(flag flag …)`, each once. `\Recent` is left out, since no client can set it. */
export function parseFlagList(cursor: Cursor): string[] {
  return distinct(cursor.list(() => parseFlag(cursor), MAX_FLAGS));
}

/** Returns the flags of STORE, which may stand without parentheses. */
export function parseStoreFlags(cursor: Cursor): string[] {
  if (cursor.isAtList) return parseFlagList(cursor);
  const flags = [parseFlag(cursor)];
  while (!cursor.isAtEnd) {
    cursor.space();
    flags.push(parseFlag(cursor));
    if (flags.length > MAX_FLAGS) bad(`A command has at most ${MAX_FLAGS} flags`, 'LIMIT');
  }
  return distinct(flags);
}

/** Returns a keyword, which is not a system flag. @throws CommandError */
function parseKeyword(cursor: Cursor): string {
  const keyword = cursor.atom();
  if (keyword.length > MAX_KEYWORD_CHARACTERS)
    bad(`A keyword has at most ${MAX_KEYWORD_CHARACTERS} characters`, 'LIMIT');
  return keyword;
}

/** Returns a flag; undefined for `\Recent`. Some clients write flags as quoted strings. */
export function parseFlag(cursor: Cursor): string | undefined {
  if (!cursor.isAtQuote) return parseAtomFlag(cursor);
  const quoted = new Cursor(Buffer.from(cursor.string()));
  const flag = parseAtomFlag(quoted);
  quoted.end();
  return flag;
}

function parseAtomFlag(cursor: Cursor): string | undefined {
  if (!cursor.skip('\\')) return parseKeyword(cursor);
  const name = cursor.atom().toUpperCase();
  if (name === 'RECENT') return undefined;
  return SYSTEM_FLAGS.get(name) ?? bad('The system flag is unknown');
}

function distinct(flags: readonly (string | undefined)[]): string[] {
  const byName = new Map<string, string>();
  for (const flag of flags) {
    // Keywords are the same in any case (RFC 9051 section 2.3.2).
    if (flag !== undefined && !byName.has(flag.toLowerCase())) byName.set(flag.toLowerCase(), flag);
  }
  return [...byName.values()];
}
