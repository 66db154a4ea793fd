/** Compares names of mailboxes with the patterns of LIST (RFC 9051 section 6.3.9). */

/** Separates the levels of a name. */
export const SEPARATOR = '/';

/** Maximum length of a pattern. A longer one matches nothing, since names are shorter. */
const MAX_PATTERN_CHARACTERS = 1_024;

/**
 * Returns a function that tells whether a name matches. `*` stands for any characters, and `%` for those of one level. The time of a
 * comparison is at most the product of both lengths, some milliseconds for the longest ones.
 */
export function compilePattern(pattern: string): (name: string) => boolean {
  // Wildcards side by side stand for no more than the strongest of them.
  const parts = pattern.replace(/[*%]{2,}/g, (run) => (run.includes('*') ? '*' : '%'));
  if (parts.length > MAX_PATTERN_CHARACTERS) return () => false;
  return (name) => {
    let reached = startOf(parts);
    for (let index = 0; index < name.length; index++) {
      const next = step(parts, reached, name.charCodeAt(index));
      if (!next) return false;
      reached = next;
    }
    return reached[parts.length] === 1;
  };
}

const ANY = '*'.charCodeAt(0);
const ANY_OF_LEVEL = '%'.charCodeAt(0);
const LEVEL_END = SEPARATOR.charCodeAt(0);

/** Positions in a pattern; 1 marks those that the beginning of a name reaches. The last one is behind the pattern. */
type Positions = Uint8Array;

function startOf(parts: string): Positions {
  const positions = new Uint8Array(parts.length + 1);
  mark(parts, positions, 0);
  return positions;
}

/** Returns the positions after another character; undefined when there are none. */
function step(parts: string, reached: Positions, character: number): Positions | undefined {
  const next = new Uint8Array(reached.length);
  let isAlive = false;
  for (let at = 0; at < parts.length; at++) {
    if (reached[at] === 0) continue;
    const part = parts.charCodeAt(at);
    if (part === ANY || (part === ANY_OF_LEVEL && character !== LEVEL_END)) mark(parts, next, at);
    else if (part === character && part !== ANY_OF_LEVEL) mark(parts, next, at + 1);
    else continue;
    isAlive = true;
  }
  return isAlive ? next : undefined;
}

/** A wildcard may stand for nothing, so what follows it is reached too. */
function mark(parts: string, positions: Positions, at: number): void {
  positions[at] = 1;
  const part = parts.charCodeAt(at);
  if (part === ANY || part === ANY_OF_LEVEL) positions[at + 1] = 1;
}
