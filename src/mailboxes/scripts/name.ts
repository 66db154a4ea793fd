/** Checks the names of Sieve scripts. */

/** Maximum length of a name: servers must allow 128 characters (RFC 5804 section 1.6). */
export const MAX_NAME_CHARACTERS = 256;
/** Matches characters that no name has: controls, and the separators of lines and paragraphs (RFC 5804 section 1.6). */
const FORBIDDEN = /[\p{Cc}\u2028\u2029]/u;

/** Returns what is wrong with the name of a script, as a sentence; undefined when it is allowed. Names are kept as they are written. */
export function problemOfScriptName(name: string): string | undefined {
  if (name === '') return 'A script needs a name';
  if ([...name].length > MAX_NAME_CHARACTERS)
    return `The name of a script has at most ${MAX_NAME_CHARACTERS} characters`;
  if (!name.isWellFormed() || FORBIDDEN.test(name))
    return 'The name of a script has no control characters and no line breaks';
  return undefined;
}
