/**
 * The searches of a session whose results are updated (RFC 5267 section 4.3): what the client was told of each. Updates are found in
 * update-contexts.ts.
 */

import { type ResultRun, writeSearchUpdate } from '../../mail/imap/encode/search.ts';
import type { FetchItem } from '../../mail/imap/fetch-item.ts';
import type { SearchKey } from '../../mail/imap/search-key.ts';
import { resolveRanges, type SequenceRange, type SequenceSet } from '../../mail/imap/sequence-set.ts';
import type { Arrangement, Refusal, SearchQuery } from '../../mail/imap/session.ts';
import type { SessionMemory } from './session-memory.ts';
import type { View } from './view.ts';

/** Maximum number of searches of a session that are updated at the same time: as many as Dovecot updates. */
const MAX_CONTEXTS = 10;

/**
 * Maximum number of results that a session keeps, of all its searches: 1.6 MB. A folder can have more than 100,000 messages.
 */
const MAX_RESULTS = 200_000;
/** Memory of a result, in bytes. */
export const BYTES_PER_RESULT = 8;

/** Key that no message matches. */
const NO_MESSAGE: SearchKey = { kind: 'not', key: { kind: 'all' } };

export class SearchContext {
  readonly tag: string;
  readonly uid: boolean;
  /** The criterion, with UIDs in the place of sequence numbers. */
  readonly key: SearchKey;
  readonly arrangement: Arrangement;
  /** Items that are returned of new messages that are added. */
  readonly items: readonly FetchItem[];
  /** UIDs that the client has in its list, in its order. */
  results: readonly number[] = [];
  /** Modseq, last UID, last removal, and time, up to which changes were processed. */
  checkedModseq: number;
  checkedUid: number;
  checkedRemoval: number;
  checkedAt: number;
  readonly #view: View;

  constructor(view: View, query: SearchQuery, now: number) {
    this.#view = view;
    this.tag = query.tag;
    this.uid = query.uid;
    this.key = withFixedSets({ kind: 'and', keys: query.keys }, (set) => toUids(view, set));
    this.arrangement = query.arrangement;
    this.items = query.esearch?.update ?? [];
    this.checkedModseq = view.state.highestModseq;
    this.checkedUid = view.lastUid;
    this.checkedRemoval = view.reported.removal;
    this.checkedAt = now;
  }

  /** Takes results out of the list. Returns how the client does the same. */
  remove(isRemoved: (uid: number) => boolean): ResultRun[] {
    const runs: { position: number; uids: number[] }[] = [];
    const kept: number[] = [];
    let wasRemoved = false;
    for (const uid of this.results) {
      const isNow = isRemoved(uid);
      const run = runs.at(-1);
      if (!isNow) kept.push(uid);
      else if (run && (wasRemoved || !this.#isSorted)) run.uids.push(uid);
      else runs.push({ position: this.#isSorted ? kept.length + 1 : 0, uids: [uid] });
      wasRemoved = isNow;
    }
    this.results = kept;
    return this.#numbered(runs);
  }

  /** Adds results to a list in the order of the mailbox. Returns how the client does the same. */
  addInOrder(uids: readonly number[]): ResultRun[] {
    if (uids.length === 0) return [];
    const added = [...uids].sort((a, b) => a - b);
    this.results = [...this.results, ...added].sort((a, b) => a - b);
    return this.#numbered([{ position: 0, uids: added }]);
  }

  /** Adds results to a sorted list at these indexes, which rise and are those of the list in the end. */
  insert(insertions: readonly { index: number; uid: number }[]): ResultRun[] {
    const runs: { position: number; uids: number[] }[] = [];
    const results: number[] = [];
    let kept = 0;
    const keepUpTo = (length: number): void => {
      while (results.length < length) results.push(this.results[kept++] as number);
    };
    for (const { index, uid } of insertions) {
      keepUpTo(index);
      results.push(uid);
      const run = runs.at(-1);
      if (run && run.position - 1 + run.uids.length === index) run.uids.push(uid);
      else runs.push({ position: index + 1, uids: [uid] });
    }
    keepUpTo(this.results.length + insertions.length);
    this.results = results;
    return this.#numbered(runs);
  }

  get #isSorted(): boolean {
    return this.arrangement.kind === 'sort';
  }

  #numbered(runs: readonly { position: number; uids: readonly number[] }[]): ResultRun[] {
    return runs.map(({ position, uids }) => ({
      position,
      numbers: this.uid ? uids : uids.map((uid) => this.#view.numberOf(uid)),
    }));
  }
}

export class SearchContexts {
  readonly #view: View;
  readonly #memory: SessionMemory;
  #contexts: readonly SearchContext[] = [];

  constructor(view: View, memory: SessionMemory) {
    this.#view = view;
    this.#memory = memory;
  }

  /** The searches that are updated, in the order in which they began. */
  get all(): readonly SearchContext[] {
    return this.#contexts;
  }

  /**
   * Begins the updates of a search, which is about to run. Returns undefined when there are too many, and a refusal when the tag is
   * in use.
   */
  begin(query: SearchQuery, now: number): SearchContext | Refusal | undefined {
    if (this.#contexts.some(({ tag }) => tag === query.tag))
      return { refused: 'BAD', text: 'Another search with this tag is being updated' };
    return this.#contexts.length < MAX_CONTEXTS ? new SearchContext(this.#view, query, now) : undefined;
  }

  /** Keeps a search that has run, with the UIDs that the client was told. Returns false when they would exceed the memory of the session. */
  keep(context: SearchContext, results: readonly number[]): boolean {
    context.results = results;
    this.#contexts = [...this.#contexts, context];
    if (this.hasCapacity()) return true;
    this.cancel([context.tag]);
    return false;
  }

  /** Returns false when there are too many results, so that a search has to end. */
  hasCapacity(): boolean {
    const count = this.#contexts.reduce((sum, { results }) => sum + results.length, 0);
    return count <= MAX_RESULTS && this.#memory.resize(count * BYTES_PER_RESULT);
  }

  cancel(tags: readonly string[]): void {
    this.#contexts = this.#contexts.filter(({ tag }) => !tags.includes(tag));
    this.hasCapacity();
  }

  /** Ends all updates. */
  end(): void {
    this.#contexts = [];
    this.hasCapacity();
  }

  /**
   * Takes messages that were removed out of the results, before they lose their sequence numbers. Returns the responses.
   */
  removeGone(): string {
    const { state } = this.#view;
    let responses = '';
    for (const context of this.#contexts) {
      if (context.checkedRemoval === state.lastRemoval) continue;
      context.checkedRemoval = state.lastRemoval;
      const removed = context.remove((uid) => state.isRemoved(uid));
      responses += writeSearchUpdate(context, { removed, added: [] });
    }
    return responses;
  }
}

/**
 * Returns the key with sets of UIDs in the place of sequence numbers, because these mean what they meant when the search began (RFC
 * 5267 section 4.3). The same holds for the saved result.
 */
function withFixedSets(key: SearchKey, toUids: (set: SequenceSet) => SequenceRange[]): SearchKey {
  switch (key.kind) {
    case 'and':
    case 'or':
      return { kind: key.kind, keys: key.keys.map((one) => withFixedSets(one, toUids)) };
    case 'not':
      return { kind: 'not', key: withFixedSets(key.key, toUids) };
    case 'set': {
      if (key.uid && key.set !== '$') return key;
      const set = toUids(key.set);
      return set.length > 0 ? { kind: 'set', set, uid: true } : NO_MESSAGE;
    }
    default:
      return key;
  }
}

function toUids(view: View, set: SequenceSet): SequenceRange[] {
  const ranges = set === '$' ? (view.find(set, true) ?? []) : resolveRanges(set, view.count);
  const existing = ranges
    .map(([from, to]): SequenceRange => [Math.max(from, 1), Math.min(to, view.count)])
    .filter(([from, to]) => from <= to);
  return view.uidRanges(existing).map(({ uidFrom, uidTo }) => [uidFrom, uidTo]);
}
