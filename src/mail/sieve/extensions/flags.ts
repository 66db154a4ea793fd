/** Lists of flags (RFC 5232 section 2). */

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

/** Maximum number of flags in one list, and length of a keyword. Our own limits. */
const MAX_FLAGS = 100;
const MAX_KEYWORD_CHARACTERS = 255;

/** Returns the flags in strings of flags and spaces, each once. Those that are not valid are left out. */
export function readFlags(texts: readonly string[]): readonly string[] {
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
