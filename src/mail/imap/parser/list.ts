/** Reads the arguments of LIST (RFC 9051 section 6.3.9, RFC 5258, RFC 5819, RFC 6154), and the items of STATUS. */

import { bad, CommandError } from '../command-error.ts';
import { decodeMailboxName, decodePattern, type TextForm } from '../encode/strings.ts';
import { LAST, type SequenceRange } from '../sequence-set.ts';
import type { ListQuery, StatusItem } from '../session.ts';
import type { Cursor } from './cursor.ts';
import { parseSequenceSet } from './sequence-set.ts';

/** Maximum number of patterns in one LIST. */
const MAX_PATTERNS = 100;
/** Maximum length of all patterns of one LIST together, each of which is compared with every name. Clients send about twenty. */
const MAX_PATTERN_CHARACTERS = 4_096;

const STATUS_ITEMS = new Set<string>([
  'MESSAGES',
  'RECENT',
  'UIDNEXT',
  'UIDVALIDITY',
  'UNSEEN',
  'DELETED',
  'DELETED-STORAGE',
  'SIZE',
  'HIGHESTMODSEQ',
  'MAILBOXID',
  'APPENDLIMIT',
] satisfies StatusItem[]);

/** A query as the client sends it. */
type AskedList = Omit<ListQuery, 'appendLimit'>;

/** `isRoot` is true for the empty pattern, which asks for the separator and the root of the names. */
export type ListArguments = { query: AskedList; isRoot: boolean };

const NO_SELECT = { subscribed: false, recursiveMatch: false, specialUse: false };
const NO_RETURN = { subscribed: false, children: false, specialUse: false, status: [] };

/** Returns the arguments of LSUB (RFC 3501 section 6.3.9). */
export function parseLsub(cursor: Cursor, form: TextForm): ListArguments {
  cursor.space();
  const reference = cursor.astring();
  cursor.space();
  const patterns = [cursor.listPattern()];
  const query: AskedList = {
    response: 'LSUB',
    patterns: complete(patterns, reference, form),
    select: { ...NO_SELECT, subscribed: true },
    return: { ...NO_RETURN, specialUse: true },
  };
  return { query, isRoot: isRoot(patterns) };
}

/** Returns the arguments of LIST. Attributes of special use and children are returned for plain LIST too. */
export function parseList(cursor: Cursor, form: TextForm): ListArguments {
  cursor.space();
  const selectOptions = cursor.isAtList ? cursor.list(() => cursor.word()) : undefined;
  if (selectOptions) cursor.space();
  const reference = cursor.astring();
  cursor.space();
  const isExtended = selectOptions !== undefined || cursor.isAtList;
  const patterns = cursor.isAtList ? cursor.list(() => cursor.listPattern()) : [cursor.listPattern()];
  if (patterns.length === 0) bad('LIST needs a pattern');
  if (patterns.length > MAX_PATTERNS) bad(`LIST has at most ${MAX_PATTERNS} patterns`, 'LIMIT');
  if (patterns.reduce((length, pattern) => length + pattern.length, 0) > MAX_PATTERN_CHARACTERS)
    bad(`The patterns of LIST have at most ${MAX_PATTERN_CHARACTERS} characters`, 'LIMIT');
  const returned = cursor.isAtEnd ? undefined : parseReturn(cursor);
  const select = readSelect(selectOptions ?? []);
  const plain = { ...NO_RETURN, children: true, specialUse: true };
  const query: AskedList = {
    response: 'LIST',
    patterns: complete(patterns, reference, form),
    select,
    // SUBSCRIBED as a selection is also returned (RFC 5258 section 3.1).
    return: {
      ...(returned ?? plain),
      subscribed: select.subscribed || returned?.subscribed === true,
      specialUse: select.specialUse || (returned ?? plain).specialUse,
    },
  };
  return { query, isRoot: !isExtended && isRoot(patterns) };
}

function readSelect(options: readonly string[]): ListQuery['select'] {
  const known = ['SUBSCRIBED', 'REMOTE', 'RECURSIVEMATCH', 'SPECIAL-USE'];
  if (!options.every((option) => known.includes(option))) bad('LIST has a selection option that is unknown');
  const subscribed = options.includes('SUBSCRIBED');
  const specialUse = options.includes('SPECIAL-USE');
  const recursiveMatch = options.includes('RECURSIVEMATCH');
  // RECURSIVEMATCH modifies another option (RFC 5258 section 3).
  if (recursiveMatch && !subscribed && !specialUse) bad('RECURSIVEMATCH needs SUBSCRIBED or SPECIAL-USE');
  return { subscribed, recursiveMatch, specialUse };
}

function parseReturn(cursor: Cursor): ListQuery['return'] {
  cursor.space();
  cursor.expect('RETURN ');
  let returned: ListQuery['return'] = NO_RETURN;
  cursor.list(() => {
    const option = cursor.word();
    if (option === 'SUBSCRIBED') returned = { ...returned, subscribed: true };
    else if (option === 'CHILDREN') returned = { ...returned, children: true };
    else if (option === 'SPECIAL-USE') returned = { ...returned, specialUse: true };
    else if (option === 'STATUS') returned = { ...returned, status: parseStatusItems(cursor) };
    else bad('LIST has a return option that is unknown');
  });
  return returned;
}

/** Returns the items of `(item item …)`, each once. The cursor stands before the space. */
export function parseStatusItems(cursor: Cursor): StatusItem[] {
  cursor.space();
  const items = cursor.list(() => cursor.word());
  if (items.length === 0) bad('STATUS needs an item');
  const known = items.filter((item): item is StatusItem => STATUS_ITEMS.has(item));
  if (known.length < items.length) bad('STATUS has an item that is unknown');
  return [...new Set(known)];
}

/** A reference is what stands before the pattern. */
function complete(patterns: readonly string[], reference: string, form: TextForm): string[] {
  return patterns
    .filter((pattern) => pattern !== '')
    .map((pattern) => decodePattern(reference + pattern, form));
}

function isRoot(patterns: readonly string[]): boolean {
  return patterns.length === 1 && patterns[0] === '';
}

/** Reads names of mailboxes (RFC 9051 section 9, `mailbox`). */

/** Returns the name as text. A name that nobody could have is refused with NO, as one that does not exist. */
export function parseMailbox(cursor: Cursor, form: TextForm): string {
  return readName(cursor.astring(), form);
}

/** Returns the name as text; an empty one stands for the server (RFC 5464 section 4.1). */
export function parseMailboxOrServer(cursor: Cursor, form: TextForm): string {
  const name = cursor.astring();
  return name === '' ? '' : readName(name, form);
}

function readName(text: string, form: TextForm): string {
  const name = decodeMailboxName(text, form);
  if (name === undefined) throw new CommandError('NO', 'The name of the mailbox is malformed', 'CANNOT');
  if (name === '') throw new CommandError('NO', 'A mailbox needs a name', 'CANNOT');
  return name;
}

/** Reads the parameters of SELECT and EXAMINE (RFC 4466 section 2.1). */
export type SelectParameters = {
  /** The client wants modseqs (RFC 7162 section 3.1.8). */
  condstore: boolean;
  resync: Resync | undefined;
};

/** State of a mailbox as the client knows it from before (RFC 7162 section 3.2.5). */
type Resync = {
  uidValidity: number;
  modseq: number;
  /** UIDs that the client has; undefined for all. */
  known: readonly SequenceRange[] | undefined;
};

/** Returns the parameters up to the end of the command. @throws CommandError */
export function parseSelectParameters(cursor: Cursor): SelectParameters {
  const parameters: SelectParameters = { condstore: false, resync: undefined };
  if (cursor.isAtEnd) return parameters;
  cursor.space();
  cursor.list(() => {
    const name = cursor.word();
    if (name === 'CONDSTORE') parameters.condstore = true;
    else if (name === 'QRESYNC') parameters.resync = parseResync(cursor);
    else bad('The command has a parameter that is unknown');
  });
  return parameters;
}

function parseResync(cursor: Cursor): Resync {
  cursor.space();
  cursor.expect('(');
  // Some clients send 0 for what they do not know. No mailbox has the UIDVALIDITY 0, and everything has changed since modseq 0.
  const uidValidity = cursor.number();
  cursor.space();
  const modseq = cursor.number();
  let known: Resync['known'];
  if (!cursor.skip(')')) {
    cursor.space();
    if (!cursor.isAtList) known = parseKnown(cursor);
    if (!known || cursor.isBeforeList) {
      if (known) cursor.space();
      skipMatches(cursor);
    }
    cursor.expect(')');
  }
  return { uidValidity, modseq, known };
}

/** A client that names UIDs knows them, so `*` makes no sense (RFC 7162 section 7, `known-uids`). */
function parseKnown(cursor: Cursor): readonly SequenceRange[] {
  const set = parseSequenceSet(cursor);
  if (set === '$' || set.flat().includes(LAST)) return bad('The set of known UIDs is malformed');
  return set;
}

/** Sequence numbers and their UIDs help servers that forget removed UIDs, which is not needed here. */
function skipMatches(cursor: Cursor): void {
  cursor.expect('(');
  parseKnown(cursor);
  cursor.space();
  parseKnown(cursor);
  cursor.expect(')');
}
