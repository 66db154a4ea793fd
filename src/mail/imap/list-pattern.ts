/** Compares names of mailboxes with the patterns of LIST (RFC 9051 section 6.3.9). */
import { SEPARATOR } from './mailbox-name.ts';

/** Maximum length of a pattern. A longer one matches nothing. Our own limit, above that of names. */
const MAX_PATTERN_CHARACTERS = 1_024;

/**
 * Returns a function that tells whether a name matches. `*` stands for any characters, and `%` for those of one level. The time of a
 * comparison is at most the product of both lengths.
 */
export function compilePattern(pattern: string): (name: string) => boolean {
  // Wildcards side by side stand for no more than the strongest of them.
  const parts = pattern.replace(/[*%]{2,}/g, (run) => (run.includes('*') ? '*' : '%'));
  if (parts.length > MAX_PATTERN_CHARACTERS) return () => false;
  return (name) => {
    let reached = reach(parts, new Set([0]));
    for (const character of name) {
      const next = new Set<number>();
      for (const at of reached) {
        const part = parts.startsWith(character, at) ? at + character.length : undefined;
        if (isWildcard(parts[at])) {
          if (parts[at] === '*' || character !== SEPARATOR) next.add(at);
        } else if (part !== undefined) next.add(part);
      }
      if (next.size === 0) return false;
      reached = reach(parts, next);
    }
    return reached.has(parts.length);
  };
}

function isWildcard(character: string | undefined): boolean {
  return character === '*' || character === '%';
}

/** A wildcard may stand for nothing. */
function reach(parts: string, positions: Set<number>): Set<number> {
  for (const at of positions) if (isWildcard(parts[at])) positions.add(at + 1);
  return positions;
}
