/** Reads the arguments of GETMETADATA and SETMETADATA (RFC 5464 section 5). */

import { bad, CommandError } from '../command-error.ts';
import type { TextForm } from '../encode/strings.ts';
import {
  MAX_ENTRIES,
  MAX_ENTRY_OCTETS,
  MAX_VALUE_OCTETS,
  type MetadataEntry,
  type MetadataQuery,
} from '../metadata.ts';
import type { Cursor } from './cursor.ts';
import { parseMailboxOrServer } from './list.ts';

/** Levels of an entry, none of which is empty, without wildcards (RFC 5464 section 3.2). */
const NAME = /^(?:\/[^/*%\P{ASCII}]+)+$/u;
/** The octets 0 to 0x19 are forbidden too (RFC 5464 section 3.2). */
const FIRST_CHARACTER = '\x1a';
const SCOPE = /^\/(?:private|shared)(?=\/|$)/i;
/** Names of vendors have four levels at least, and others two (RFC 5464 section 3.2). */
const COMPLETE = /^\/[^/]+\/(?!vendor(?:\/[^/]*)?$)/i;

/** Code of a value that is too large (RFC 5464 section 4.3). */
export const VALUE_TOO_LARGE = `METADATA MAXSIZE ${MAX_VALUE_OCTETS}`;

type Options = Pick<MetadataQuery, 'depth' | 'maxOctets'>;

const NO_OPTIONS: Options = { depth: 0, maxOctets: undefined };

/** Reads the query of GETMETADATA. Its options stand before the mailbox, or behind it as in the examples of the specification. */
export function parseMetadataQuery(cursor: Cursor, form: TextForm): MetadataQuery {
  cursor.space();
  const early = cursor.isAtList ? parseOptions(cursor) : undefined;
  if (early) cursor.space();
  const mailbox = parseMailboxOrServer(cursor, form);
  cursor.space();
  const late = !early && cursor.isAtWordList ? parseOptions(cursor) : undefined;
  if (late) cursor.space();
  const options = early ?? late ?? NO_OPTIONS;
  const entries = parseEntries(cursor, options);
  cursor.end();
  return { mailbox, entries, ...options };
}

function parseOptions(cursor: Cursor): Options {
  const options = new Map<string, string | number>();
  const given = cursor.list(() => {
    const name = cursor.word();
    cursor.space();
    if (name === 'MAXSIZE') options.set(name, cursor.number());
    else if (name === 'DEPTH') options.set(name, cursor.word());
    else bad('GETMETADATA has an option that is unknown');
  });
  if (given.length === 0 || options.size < given.length) bad('GETMETADATA needs each option once');
  const maxOctets = options.get('MAXSIZE') as number | undefined;
  return { maxOctets, depth: depthOf(options.get('DEPTH') ?? '0') };
}

function depthOf(word: string | number): Options['depth'] {
  if (word === 'INFINITY') return 'infinity';
  if (word === '0' || word === '1') return word === '0' ? 0 : 1;
  return bad('DEPTH is 0, 1 or infinity');
}

/** Reads names with or without parentheses. With a depth they may be of levels that have no value themselves. */
function parseEntries(cursor: Cursor, { depth }: Options): string[] {
  const read = () => parseEntry(cursor, { isComplete: depth === 0 });
  if (cursor.isAtList) {
    const entries = cursor.list(read);
    return entries.length > 0 ? limited(entries) : bad('GETMETADATA needs an entry');
  }
  const entries = [read()];
  while (!cursor.isAtEnd) {
    cursor.space();
    entries.push(read());
  }
  return limited(entries);
}

function limited(entries: string[]): string[] {
  return entries.length <= MAX_ENTRIES
    ? entries
    : bad(`GETMETADATA has at most ${MAX_ENTRIES} entries`, 'LIMIT');
}

type Setting = { mailbox: string; entries: MetadataEntry[] };

/** Reads what SETMETADATA sets. */
export function parseMetadataSetting(cursor: Cursor, form: TextForm): Setting {
  cursor.space();
  const mailbox = parseMailboxOrServer(cursor, form);
  cursor.space();
  const entries = cursor.list(() => {
    const entry = parseEntry(cursor, { isComplete: true });
    cursor.space();
    return { entry, value: cursor.nstringOctets() };
  });
  cursor.end();
  if (entries.length === 0) bad('SETMETADATA needs an entry');
  if (entries.length > MAX_ENTRIES)
    throw new CommandError('NO', `SETMETADATA has at most ${MAX_ENTRIES} entries`, 'METADATA TOOMANY');
  if (entries.some(({ value }) => value && value.length > MAX_VALUE_OCTETS))
    throw new CommandError('NO', `A value has at most ${MAX_VALUE_OCTETS} octets`, VALUE_TOO_LARGE);
  return { mailbox, entries };
}

function parseEntry(cursor: Cursor, { isComplete }: { isComplete: boolean }): string {
  const name = cursor.astring();
  const isAllowed = NAME.test(name) && [...name].every((character) => character >= FIRST_CHARACTER);
  if (!isAllowed || !SCOPE.test(name)) bad('The name of an entry is malformed');
  if (isComplete && !COMPLETE.test(name)) bad('The name of an entry has too few levels');
  if (name.length > MAX_ENTRY_OCTETS)
    bad(`The name of an entry has at most ${MAX_ENTRY_OCTETS} octets`, 'LIMIT');
  return name;
}
