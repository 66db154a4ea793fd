/** Flags of messages (RFC 9051 section 2.3.2): system flags are bits, and all others are keywords. */

export const SEEN = 1;
const ANSWERED = 2;
export const FLAGGED = 4;
export const DELETED = 8;
export const DRAFT = 16;

const NAMES = [
  ['\\Seen', SEEN],
  ['\\Answered', ANSWERED],
  ['\\Flagged', FLAGGED],
  ['\\Deleted', DELETED],
  ['\\Draft', DRAFT],
] as const;

const BITS: ReadonlyMap<string, number> = new Map(NAMES.map(([name, bit]) => [name.toLowerCase(), bit]));

/** Bits of all system flags. */
export const ALL_FLAGS = NAMES.reduce((bits, [, bit]) => bits | bit, 0);

/** Names of the system flags, in the order of their bits. */
export const SYSTEM_FLAGS: readonly string[] = NAMES.map(([name]) => name);

type Flags = {
  /** Bits of system flags. */
  flags: number;
  /** Sorted; two keywords never differ in case alone. */
  keywords: readonly string[];
};

/**
 * Returns flags by their names. `\Recent` and unknown names with a backslash are left out, because nobody can set them. Flags are
 * case-insensitive (RFC 9051 section 2.3.2); a keyword keeps the case in which it comes first.
 */
export function readFlags(names: Iterable<string>): Flags {
  let flags = 0;
  const keywords = new Map<string, string>();
  for (const name of names) {
    const key = name.toLowerCase();
    flags |= BITS.get(key) ?? 0;
    if (!key.startsWith('\\') && !keywords.has(key)) keywords.set(key, name);
  }
  return { flags, keywords: [...keywords.values()].sort() };
}

/** Returns the names of flags: system flags first. */
export function flagNames({ flags, keywords }: Flags): string[] {
  const system = NAMES.filter(([, bit]) => (flags & bit) !== 0).map(([name]) => name);
  return [...system, ...keywords];
}
