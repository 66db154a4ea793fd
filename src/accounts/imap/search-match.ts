/**
 * Decides whether messages match search criteria (RFC 9051 section 6.4.4). A criterion needs a certain part of a message; as long as
 * that part was not read, the answer is undefined. Most messages are decided by the parts that cost little.
 */
import { leavesOf, type SearchKey, type SearchLeaf } from '../../mail/imap/search-key.ts';
import { resolveRanges, type SequenceRange } from '../../mail/imap/sequence-set.ts';
import { foldText } from '../../mail/message/fold.ts';
import { readValues } from '../../mail/message/header-block.ts';
import { foldValues, isSearchField, type SearchField } from '../../mail/message/search-fields.ts';
import type { SortKeys } from '../../mail/message/sort-keys.ts';
import { readFlags } from '../flags.ts';
import type { FieldMatches } from '../search-field-store.ts';
import type { Column, StoredMessage } from '../stored-message-store.ts';
import type { SelectedState } from './session-state.ts';
import type { Entry } from './view.ts';

/** Parts of messages that criteria need beside the state of the folder, the cheapest first. */
const PARTS = ['fields', 'facts', 'header', 'text'] as const;
type Part = (typeof PARTS)[number];

/** A message of which some parts were read. */
export type Candidate = {
  entry: Entry;
  /** Results of the criteria that look in header fields that are stored for searches. */
  fields?: ReadonlyMap<FieldKey, FieldMatches>;
  facts?: StoredMessage;
  /** Days of the message, which are read from its facts. */
  days?: MessageDays;
  header?: HeaderTexts;
  /** Criteria of text that match. */
  matchingTexts?: ReadonlySet<TextKey>;
};

/** A criterion that looks in the text of messages. */
export type TextKey = SearchKey & { kind: 'text' | 'body' };

/** A criterion that looks in one of the header fields that are stored for searches. */
export type FieldKey = SearchKey & { kind: 'header'; field: SearchField };

type Answer = boolean | undefined;
type Matcher = (candidate: Candidate) => Answer;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Returns the parts that a criterion needs, in the order in which they are read. */
export function partsOf(key: SearchKey): Part[] {
  const needed = leavesOf(key).flatMap(partsOfLeaf);
  return PARTS.filter((part) => needed.includes(part));
}

function partsOfLeaf(leaf: SearchLeaf): readonly Part[] {
  if (leaf.kind === 'header') return isFieldKey(leaf) ? ['fields', 'header'] : ['header'];
  if (isTextKey(leaf)) return ['text'];
  return columnsOf(leaf).length > 0 ? ['facts'] : [];
}

/** Returns the criteria that look in the text of messages. */
export function textKeysOf(key: SearchKey): TextKey[] {
  return leavesOf(key).filter(isTextKey);
}

/** Returns the criteria that look in header fields that are stored for searches. */
export function fieldKeysOf(key: SearchKey): FieldKey[] {
  return leavesOf(key).filter(isFieldKey);
}

/** Returns those of these criteria that every message must fulfil. */
export function requiredFieldKeysOf(key: SearchKey): FieldKey[] {
  if (key.kind === 'and') return key.keys.flatMap(requiredFieldKeysOf);
  return isFieldKey(key) ? [key] : [];
}

/** Returns true when nothing is decided by the state of the folder alone. */
export function asksOnlyParts(key: SearchKey): boolean {
  const leaves = leavesOf(key);
  return leaves.length > 0 && leaves.every((leaf) => partsOfLeaf(leaf).length > 0);
}

function isTextKey(key: SearchKey): key is TextKey {
  return key.kind === 'text' || key.kind === 'body';
}

function isFieldKey(key: SearchKey): key is FieldKey {
  return key.kind === 'header' && isSearchField(key.field);
}

/** Returns the columns that the facts must have for a criterion. */
export function factColumnsOf(key: SearchKey): ReadonlySet<Column> {
  return new Set(leavesOf(key).flatMap(columnsOf));
}

function columnsOf(leaf: SearchLeaf): readonly Column[] {
  return leaf.kind === 'date' ? COLUMNS_OF_DATES[leaf.of] : (COLUMNS[leaf.kind] ?? []);
}

const COLUMNS: Partial<Record<SearchLeaf['kind'], readonly Column[]>> = {
  larger: ['sizeBytes'],
  smaller: ['sizeBytes'],
  older: ['internalAt'],
  younger: ['internalAt'],
  emailId: ['emailId'],
};

/** The sent date is a part of the sort keys. */
const COLUMNS_OF_DATES = {
  internal: ['internalAt', 'internalZoneMinutes'],
  sent: ['sort'],
  saved: ['savedAt'],
} as const satisfies Record<string, readonly Column[]>;

/** Returns the function that decides whether a message matches. Sets of messages mean what they mean now. */
export function compileKey(selected: SelectedState, key: SearchKey): Matcher {
  switch (key.kind) {
    case 'all':
      return () => true;
    case 'and':
      return every(key.keys.map((one) => compileKey(selected, one)));
    case 'or': {
      const none = every(key.keys.map((one) => not(compileKey(selected, one))));
      return not(none);
    }
    case 'not':
      return not(compileKey(selected, key.key));
    case 'flag':
      return matchFlag(selected, key.flag);
    case 'set':
      return matchSet(selected, key);
    case 'modseq':
      return ({ entry }) => entry.modseq >= key.atLeast;
    case 'larger':
      return ({ facts }) => facts && facts.sizeBytes > key.sizeBytes;
    case 'smaller':
      return ({ facts }) => facts && facts.sizeBytes < key.sizeBytes;
    case 'date':
      return matchDate(key);
    case 'older':
    case 'younger':
      return matchAge(selected, key);
    case 'emailId':
      return ({ facts }) => facts && facts.emailId === key.id;
    case 'header':
      return matchHeader(key);
    case 'text':
    case 'body':
      return ({ matchingTexts }) => matchingTexts?.has(key);
  }
}

function not(matcher: Matcher): Matcher {
  return (candidate) => {
    const answer = matcher(candidate);
    return answer === undefined ? undefined : !answer;
  };
}

function every(matchers: readonly Matcher[]): Matcher {
  return (candidate) => {
    let all: Answer = true;
    for (const matcher of matchers) {
      const answer = matcher(candidate);
      if (answer === false) return false;
      if (answer === undefined) all = undefined;
    }
    return all;
  };
}

function matchFlag({ shared }: SelectedState, flag: string): Matcher {
  if (flag === '\\Recent') return ({ entry }) => entry.isRecent;
  const { flags } = readFlags([flag]);
  if (flags !== 0) return ({ entry }) => (entry.flags & flags) !== 0;
  const name = flag.toLowerCase();
  return ({ entry }) => foldedKeywords(shared.keywordsOf(entry.keywordSetId)).has(name);
}

/** Keywords in lower case by the lists that accounts have of them, because a client may search for thousands of keywords. */
const folded = new WeakMap<readonly string[], ReadonlySet<string>>();

function foldedKeywords(keywords: readonly string[]): ReadonlySet<string> {
  const known = folded.get(keywords);
  if (known) return known;
  const names = new Set(keywords.map((keyword) => keyword.toLowerCase()));
  folded.set(keywords, names);
  return names;
}

function matchSet({ view }: SelectedState, { set, uid }: SearchKey & { kind: 'set' }): Matcher {
  const ranges = uid || set === '$' ? (view.find(set, true) ?? []) : resolveRanges(set, view.count);
  return ({ entry }) => isInRanges(ranges, entry.number);
}

function isInRanges(ranges: readonly SequenceRange[], number: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as SequenceRange)[1] < number) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.[0] ?? Number.POSITIVE_INFINITY) <= number;
}

function matchDate({ of, comparison, day }: SearchKey & { kind: 'date' }): Matcher {
  return ({ days }) => {
    if (!days) return undefined;
    const own = days.day(of);
    if (own === undefined) return false;
    if (comparison === 'on') return own === day;
    return comparison === 'before' ? own < day : own >= day;
  };
}

type DateKind = (SearchKey & { kind: 'date' })['of'];

/** The days of one message, each of which is read when a criterion first asks for it. */
export class MessageDays {
  readonly #facts: StoredMessage;
  readonly #days = new Map<DateKind, string | undefined>();

  constructor(facts: StoredMessage) {
    this.#facts = facts;
  }

  /** Returns a day as YYYY-MM-DD; undefined when the sender gave no valid date. */
  day(of: DateKind): string | undefined {
    if (!this.#days.has(of)) this.#days.set(of, dayOf(this.#facts, of));
    return this.#days.get(of);
  }
}

function dayOf(facts: StoredMessage, of: DateKind): string | undefined {
  if (of === 'sent') return (JSON.parse(facts.sort) as SortKeys).sent?.day;
  const at = of === 'saved' ? facts.savedAt : facts.internalAt + facts.internalZoneMinutes * MINUTE_MS;
  return new Date(at).toISOString().slice(0, 10);
}

/** Time counts from the beginning of the search (RFC 5032 section 3). */
function matchAge(
  { shared }: SelectedState,
  { kind, seconds }: SearchKey & { kind: 'older' | 'younger' },
): Matcher {
  const limit = shared.account.app.clock.now() - seconds * SECOND_MS;
  return ({ facts }) => facts && (kind === 'older' ? facts.internalAt <= limit : facts.internalAt >= limit);
}

function matchHeader(key: SearchKey & { kind: 'header' }): Matcher {
  const folded = foldText(key.text);
  const inHeader: Matcher = ({ header }) => header?.of(key.field).some((value) => value.includes(folded));
  if (!isFieldKey(key)) return inHeader;
  return (candidate) => {
    const matches = candidate.fields?.get(key);
    const { contentId } = candidate.entry;
    if (!matches || matches.unsure.has(contentId)) return inHeader(candidate);
    return matches.matching.has(contentId);
  };
}

/** Folded values of the fields of a header, which are decoded when a criterion first asks for them. */
export class HeaderTexts {
  readonly #header: Buffer;
  readonly #texts = new Map<string, readonly string[]>();

  /** Keeps the header, which has the prefix of the recipient. */
  constructor(header: Buffer) {
    this.#header = header;
  }

  /** Returns the values of all fields with this name, which is in lower case. */
  of(field: string): readonly string[] {
    const known = this.#texts.get(field);
    if (known) return known;
    const values = readValues(this.#header, { start: 0, end: this.#header.length }, field);
    const texts = foldValues(field, values);
    this.#texts.set(field, texts);
    return texts;
  }
}
