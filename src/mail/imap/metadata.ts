/** Annotations of mailboxes and of the server (RFC 5464): what clients ask for, and the limits. They are plain data. */

/** Maximum size of a value. A server must take 1,024 octets (RFC 5464 section 4.1). Our own limit. */
export const MAX_VALUE_OCTETS = 64 * 1024;
/**
 * Maximum number of entries of a mailbox, of the server, and in one command. A server must take ten (RFC 5464 section 4.1). Our own
 * limit.
 */
export const MAX_ENTRIES = 100;
/** Maximum length of the name of an entry. */
export const MAX_ENTRY_OCTETS = 255;

/** An entry with its new value; undefined removes it. Names of entries are compared without regard to case. */
export type MetadataEntry = { entry: string; value: Uint8Array | undefined };

export type MetadataQuery = {
  /** Empty for the server. */
  mailbox: string;
  entries: readonly string[];
  /** Number of levels below the entries that are asked for too. */
  depth: 0 | 1 | 'infinity';
  /** Maximum size of a value that is returned. */
  maxOctets: number | undefined;
};

type Known = { entry: string; sizeBytes: number };

type Choice<Entry> = {
  /** Entries that exist, and the names of those that do not. */
  chosen: (Entry | string)[];
  /** Size of the largest value that was left out, when there is one. */
  longest: number | undefined;
};

/**
 * Chooses the entries that a query asks for, each once. A name that was asked for alone is answered also when it has no value
 * (RFC 5464 section 4.2.2).
 */
export function chooseEntries<Entry extends Known>(
  known: readonly Entry[],
  { entries, depth, maxOctets = Number.POSITIVE_INFINITY }: Omit<MetadataQuery, 'mailbox'>,
): Choice<Entry> {
  const chosen = new Map<string, Entry | string>();
  for (const asked of entries) {
    const found = known.filter(({ entry }) => isWithin(entry.toLowerCase(), asked.toLowerCase(), depth));
    for (const one of found) chosen.set(one.entry.toLowerCase(), one);
    if (found.length === 0 && depth === 0 && !chosen.has(asked.toLowerCase()))
      chosen.set(asked.toLowerCase(), asked);
  }
  const all = [...chosen.values()];
  const tooLong = all.flatMap((one) =>
    typeof one !== 'string' && one.sizeBytes > maxOctets ? [one.sizeBytes] : [],
  );
  return {
    chosen: all.filter((one) => typeof one === 'string' || one.sizeBytes <= maxOctets),
    longest: tooLong.length > 0 ? Math.max(...tooLong) : undefined,
  };
}

/** Returns true for an entry itself, and for those below it down to the depth. */
function isWithin(entry: string, above: string, depth: MetadataQuery['depth']): boolean {
  if (entry === above) return true;
  if (depth === 0 || !entry.startsWith(`${above}/`)) return false;
  return depth === 'infinity' || !entry.includes('/', above.length + 1);
}
