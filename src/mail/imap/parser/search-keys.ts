/**
 * Reads search criteria (RFC 9051 section 6.4.4, RFC 3501 section 6.4.4) without recursion, so that no nesting exhausts the
 * stack. Nested AND and OR of one kind become one list, and NOT of NOT disappears: clients chain hundreds of OR.
 */
import { bad } from '../command-error.ts';
import type { SearchKey } from '../search-key.ts';
import type { Cursor } from './cursor.ts';
import { parseDay } from './dates.ts';
import { parseFlag } from './flags.ts';
import { parseSequenceSet } from './sequence-set.ts';

/** Maximum depth of parentheses, and of the keys that are returned. People's programs need two or three. */
const MAX_NESTING = 50;

/** A key that is not complete. A group ends with `)`, the others when they have as many keys as they need. */
type Frame = { kind: 'and' | 'or' | 'not'; isGroup: boolean; keys: Nested[] };
/** A key and the depth of the keys in it. */
type Nested = { key: Built; depth: number };
/** A key whose list still grows. */
type Built = SearchKey | Joined;
type Joined = { kind: 'and' | 'or'; keys: SearchKey[] };

const KEYS_NEEDED = { and: Number.POSITIVE_INFINITY, or: 2, not: 1 } as const;

/** Returns the keys up to the end of the command. @throws CommandError */
export function parseSearchKeys(cursor: Cursor): SearchKey[] {
  const outermost: Frame = { kind: 'and', isGroup: false, keys: [] };
  const open: Frame[] = [outermost];
  let groups = 0;
  for (;;) {
    if (cursor.skip('(')) {
      if (++groups > MAX_NESTING) tooDeep();
      open.push({ kind: 'and', isGroup: true, keys: [] });
      continue;
    }
    const operator = cursor.skip('NOT ') ? 'not' : cursor.skip('OR ') ? 'or' : undefined;
    if (operator) {
      open.push({ kind: operator, isGroup: false, keys: [] });
      continue;
    }
    complete(open, { key: parseKey(cursor), depth: 1 });
    while (cursor.skip(')')) {
      const group = open.pop();
      if (!group?.isGroup) return bad('A parenthesis closes that was not opened');
      groups--;
      complete(open, build(group));
    }
    if (cursor.isAtEnd) break;
    cursor.space();
  }
  if (open.length > 1) bad('A search key is not complete');
  return outermost.keys.map(({ key }) => key);
}

/** Adds a key to the innermost frame, and closes every frame that is complete with it. */
function complete(open: Frame[], nested: Nested): void {
  let added = nested;
  for (;;) {
    const frame = open.at(-1);
    if (!frame) return;
    frame.keys.push(added);
    if (frame.keys.length < KEYS_NEEDED[frame.kind]) return;
    open.pop();
    added = build(frame);
  }
}

function build({ kind, keys }: Frame): Nested {
  const [first] = keys;
  if (!first) return bad('A group of search keys is empty');
  const flat =
    kind === 'not' ? negate(first) : kind === 'and' && keys.length === 1 ? first : join(kind, keys);
  return flat.depth > MAX_NESTING ? tooDeep() : flat;
}

function negate({ key, depth }: Nested): Nested {
  return key.kind === 'not'
    ? { key: key.key, depth: depth - 1 }
    : { key: { kind: 'not', key }, depth: depth + 1 };
}

/** The longest list of the same kind takes the other keys up, so that a chain of OR costs no more than its length. */
function join(kind: 'and' | 'or', nested: readonly Nested[]): Nested {
  let longest: SearchKey[] = [];
  let depth = 0;
  for (const { key, depth: childDepth } of nested) {
    const keys = listOf(key, kind);
    depth = Math.max(depth, keys ? childDepth : childDepth + 1);
    if (keys && keys.length > longest.length) longest = keys;
  }
  for (const { key } of nested) {
    const keys = listOf(key, kind) ?? [key];
    if (keys === longest) continue;
    for (const one of keys) longest.push(one);
  }
  return { key: { kind, keys: longest }, depth };
}

/** Returns the list of a key that this parser has built; undefined for a key of another kind. */
function listOf(key: Built, kind: 'and' | 'or'): SearchKey[] | undefined {
  return key.kind === kind && Array.isArray(key.keys) ? key.keys : undefined;
}

function tooDeep(): never {
  return bad(`Search keys are nested at most ${MAX_NESTING} deep`, 'LIMIT');
}

type KeyParser = (cursor: Cursor) => SearchKey;

const flag = (name: string): SearchKey => ({ kind: 'flag', flag: name });
const not = (key: SearchKey): SearchKey => ({ kind: 'not', key });

/** Reads the argument after the space that separates it. */
const after =
  (read: KeyParser): KeyParser =>
  (cursor) => {
    cursor.space();
    return read(cursor);
  };

const header = (field: string): KeyParser =>
  after((cursor) => ({ kind: 'header', field, text: cursor.astring() }));
const date = (of: 'internal' | 'sent' | 'saved', comparison: 'before' | 'on' | 'since'): KeyParser =>
  after((cursor) => ({ kind: 'date', of, comparison, day: parseDay(cursor) }));

const KEYS: ReadonlyMap<string, KeyParser> = new Map(
  Object.entries<KeyParser>({
    ALL: () => ({ kind: 'all' }),
    ANSWERED: () => flag('\\Answered'),
    DELETED: () => flag('\\Deleted'),
    DRAFT: () => flag('\\Draft'),
    FLAGGED: () => flag('\\Flagged'),
    RECENT: () => flag('\\Recent'),
    SEEN: () => flag('\\Seen'),
    UNANSWERED: () => not(flag('\\Answered')),
    UNDELETED: () => not(flag('\\Deleted')),
    UNDRAFT: () => not(flag('\\Draft')),
    UNFLAGGED: () => not(flag('\\Flagged')),
    UNSEEN: () => not(flag('\\Seen')),
    NEW: () => ({ kind: 'and', keys: [flag('\\Recent'), not(flag('\\Seen'))] }),
    OLD: () => not(flag('\\Recent')),
    KEYWORD: after(parseFlagKey),
    UNKEYWORD: after((cursor) => not(parseFlagKey(cursor))),
    BCC: header('bcc'),
    CC: header('cc'),
    FROM: header('from'),
    SUBJECT: header('subject'),
    TO: header('to'),
    HEADER: after((cursor) => {
      const field = cursor.astring().toLowerCase();
      cursor.space();
      return { kind: 'header', field, text: cursor.astring() };
    }),
    BODY: after((cursor) => ({ kind: 'body', text: cursor.astring() })),
    TEXT: after((cursor) => ({ kind: 'text', text: cursor.astring() })),
    BEFORE: date('internal', 'before'),
    ON: date('internal', 'on'),
    SINCE: date('internal', 'since'),
    SAVEDATESUPPORTED: () => ({ kind: 'all' }),
    SAVEDBEFORE: date('saved', 'before'),
    SAVEDON: date('saved', 'on'),
    SAVEDSINCE: date('saved', 'since'),
    SENTBEFORE: date('sent', 'before'),
    SENTON: date('sent', 'on'),
    SENTSINCE: date('sent', 'since'),
    OLDER: after((cursor) => ({ kind: 'older', seconds: cursor.positiveNumber() })),
    YOUNGER: after((cursor) => ({ kind: 'younger', seconds: cursor.positiveNumber() })),
    EMAILID: after((cursor) => ({ kind: 'emailId', id: cursor.atom() })),
    // Messages have no thread ids (RFC 8474 section 5.2).
    THREADID: after((cursor) => {
      cursor.atom();
      return not({ kind: 'all' });
    }),
    LARGER: after((cursor) => ({ kind: 'larger', sizeBytes: cursor.number() })),
    SMALLER: after((cursor) => ({ kind: 'smaller', sizeBytes: cursor.number() })),
    UID: after((cursor) => ({ kind: 'set', set: parseSequenceSet(cursor), uid: true })),
    MODSEQ: after(parseModseq),
  }),
);

/** The grammar has keywords here, and some clients write system flags. */
function parseFlagKey(cursor: Cursor): SearchKey {
  return flag(parseFlag(cursor) ?? '\\Recent');
}

function parseKey(cursor: Cursor): SearchKey {
  if (cursor.isAtSet) return { kind: 'set', set: parseSequenceSet(cursor), uid: false };
  const parse = KEYS.get(cursor.word());
  return parse ? parse(cursor) : bad('A search key is unknown');
}

/** The name and the type of a metadata item may stand before the number (RFC 7162 section 3.1.5); all items share one modseq. */
function parseModseq(cursor: Cursor): SearchKey {
  if (cursor.isAtQuote) {
    cursor.string();
    cursor.space();
    if (!['ALL', 'PRIV', 'SHARED'].includes(cursor.word())) bad('MODSEQ needs all, priv or shared');
    cursor.space();
  }
  return { kind: 'modseq', atLeast: cursor.number() };
}
