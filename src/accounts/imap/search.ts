/** SEARCH, SORT and THREAD over an account (RFC 9051 section 6.4.4, RFC 5256). Each message is read only as far as the criteria need it. */
import { numbersToSave, writeNoUpdate, writeSearchResult } from '../../mail/imap/encode/search.ts';
import type { SearchKey } from '../../mail/imap/search-key.ts';
import type { SequenceRange } from '../../mail/imap/sequence-set.ts';
import { type Chunks, isRefusal, type SearchQuery } from '../../mail/imap/session.ts';
import { foldText } from '../../mail/message/fold.ts';
import { createPause, nextSlice } from '../../system/slices.ts';
import { searchField } from '../search.ts';
import type { FieldMatches } from '../search-field-store.ts';
import type { Column } from '../stored-message-store.ts';
import { sortFound } from './arrange.ts';
import { NOTHING_YET } from './responses.ts';
import { BYTES_PER_RESULT } from './search-contexts.ts';
import {
  asksOnlyParts,
  type Candidate,
  compileKey,
  type FieldKey,
  factColumnsOf,
  fieldKeysOf,
  HeaderTexts,
  MessageDays,
  partsOf,
  requiredFieldKeysOf,
  type TextKey,
  textKeysOf,
} from './search-match.ts';
import { findTexts } from './search-text.ts';
import { headerOf } from './sections.ts';
import type { SelectedState } from './session-state.ts';
import { slicesOf } from './slices.ts';
import { batchesOf, readPrefixes, readStored } from './stored.ts';
import { threadFound } from './thread-found.ts';
import type { Entry } from './view.ts';

/** Number of messages that are searched before other work runs. */
const MESSAGES_PER_SLICE = 500;

/** Yields the response with all messages that match. */
export async function* searchMessages(selected: SelectedState, query: SearchQuery): Chunks {
  const { view, contexts } = selected;
  const isUpdated = query.esearch?.update !== undefined;
  const context = isUpdated ? contexts.begin(query, selected.shared.account.app.clock.now()) : undefined;
  if (isRefusal(context)) return context;
  const search = compileSearch(selected, { kind: 'and', keys: query.keys });
  // A search that fails leaves an empty result (RFC 5182 section 2.1).
  if (query.esearch?.save) saveResult(selected, []);
  const found: Entry[] = [];
  const everything: SequenceRange[] = view.count === 0 ? [] : [[1, view.count]];
  for (const slice of slicesOf(everything, MESSAGES_PER_SLICE)) {
    const entries = view.entries(slice);
    await selected.shared.loadKeywords(keywordSetsOf(entries));
    for (const entry of await search(entries)) found.push(entry);
    await nextSlice();
    yield NOTHING_YET;
  }
  const { arrangement, uid, esearch } = query;
  if (arrangement.kind === 'thread') {
    yield Buffer.from(yield* threadFound(selected, { found, uid }, arrangement));
    return undefined;
  }
  const results = arrangement.kind === 'sort' ? yield* sortFound(selected, found, arrangement) : found;
  const uids = results.map((entry) => entry.uid);
  if (esearch?.save && !saveResult(selected, numbersToSave(esearch, uids)))
    return { refused: 'NO', code: 'NOTSAVED', text: 'The mailbox has no room for the result' };
  const numbers = uid ? uids : results.map(({ number }) => number);
  const response = writeSearchResult(query, { numbers, modseq: modseqOf(query, results) });
  if (response !== '') yield Buffer.from(response);
  if (isUpdated && !(context && contexts.keep(context, uids)))
    yield Buffer.from(writeNoUpdate(query.tag, 'Too many searches are being updated'));
  return undefined;
}

/** Saves the result of a search. Returns false when it would exceed the memory of the session, and leaves it empty (RFC 5182 section 2.5). */
function saveResult({ view, savedMemory }: SelectedState, uids: number[]): boolean {
  const hasCapacity = savedMemory.resize(uids.length * BYTES_PER_RESULT);
  view.saved = hasCapacity ? uids.sort((a, b) => a - b) : [];
  return hasCapacity;
}

/** Returns the function that finds the messages of a slice that match. Their keywords were loaded before. */
export function compileSearch(
  selected: SelectedState,
  key: SearchKey,
): (entries: readonly Entry[]) => Promise<Entry[]> {
  const matches = compileKey(selected, key);
  const needed = partsOf(key);
  const textKeys = textKeysOf(key);
  const fieldKeys = fieldKeysOf(key);
  const requiredKeys = requiredFieldKeysOf(key);
  const factColumns = [...factColumnsOf(key)];
  const pause = createPause(selected.shared.account.app.clock);
  return async (entries) => {
    const found: Entry[] = [];
    let open: Candidate[] = [];
    const decide: Decide = async (candidates) => {
      for (const candidate of candidates) {
        const answer = matches(candidate);
        if (answer) found.push(candidate.entry);
        if (answer === undefined) open.push(candidate);
        // A client may send thousands of criteria.
        const turn = pause();
        if (turn !== undefined) await turn;
      }
    };
    const all = entries.map((entry) => ({ entry }));
    if (asksOnlyParts(key)) open = all;
    else await decide(all);
    for (const part of needed) {
      const undecided = open;
      open = [];
      if (undecided.length === 0) break;
      if (part === 'fields') await addFields(selected, undecided, { keys: fieldKeys, requiredKeys, decide });
      else if (part === 'facts') await addFacts(selected, undecided, { columns: factColumns, decide });
      else if (part === 'header') await addHeaders(selected, undecided, decide);
      else await addTexts(selected, undecided, { keys: textKeys, decide });
    }
    return found.sort((a, b) => a.number - b.number);
  };
}

type Decide = (candidates: readonly Candidate[]) => Promise<void>;

/** Looks in the header fields that are stored for searches. */
async function addFields(
  { shared }: SelectedState,
  candidates: readonly Candidate[],
  { keys, requiredKeys, decide }: FieldKeys & { decide: Decide },
): Promise<void> {
  const contentIds = candidates.map(({ entry }) => entry.contentId);
  const pause = createPause(shared.account.app.clock);
  const fields = new Map<FieldKey, FieldMatches>();
  for (const key of keys) {
    const sought = { field: key.field, needle: foldText(key.text) };
    fields.set(key, await searchField(shared.account, contentIds, sought));
    await pause();
  }
  const required = requiredKeys.map((key) => fields.get(key)).filter((one) => one !== undefined);
  const possible: Candidate[] = [];
  for (const candidate of candidates) {
    const { contentId } = candidate.entry;
    candidate.fields = fields;
    if (required.every(({ matching, unsure }) => matching.has(contentId) || unsure.has(contentId)))
      possible.push(candidate);
    const turn = pause();
    if (turn !== undefined) await turn;
  }
  await decide(possible);
}

/** Criteria that look in stored header fields, and those of them that every message must fulfil. Most messages end there. */
type FieldKeys = { keys: readonly FieldKey[]; requiredKeys: readonly FieldKey[] };

function keywordSetsOf(entries: readonly Entry[]): Set<number> {
  const sets = new Set<number>();
  let last: number | undefined;
  for (const { keywordSetId } of entries) {
    if (keywordSetId !== last) sets.add(keywordSetId);
    last = keywordSetId;
  }
  return sets;
}

/** Messages that can be read no more do not match. */
async function addFacts(
  selected: SelectedState,
  candidates: readonly Candidate[],
  { columns, decide }: { columns: readonly Column[]; decide: Decide },
): Promise<void> {
  const entries = candidates.map(({ entry }) => entry);
  const stored = await readStored(selected, entries, columns);
  await decide(
    candidates.flatMap((candidate, index) => {
      const facts = stored[index];
      return facts ? { ...candidate, facts, days: new MessageDays(facts) } : [];
    }),
  );
}

/** Reads headers, and lets other work run between. */
async function addHeaders(
  selected: SelectedState,
  candidates: readonly Candidate[],
  decide: Decide,
): Promise<void> {
  const columns: Column[] = ['header', 'prefix'];
  const sizes = candidates.map(({ facts }) => facts?.sizeBytes);
  for (const [from, to] of batchesOf(sizes, columns)) {
    const batch = candidates.slice(from, to);
    const entries = batch.map(({ entry }) => entry);
    const stored = await readStored(selected, entries, columns);
    await decide(
      batch.flatMap((candidate, index) => {
        const message = stored[index];
        return message ? { ...candidate, header: new HeaderTexts(headerOf(message)) } : [];
      }),
    );
    await nextSlice();
  }
}

async function addTexts(
  selected: SelectedState,
  candidates: readonly Candidate[],
  { keys, decide }: { keys: readonly TextKey[]; decide: Decide },
): Promise<void> {
  const entries = candidates.map(({ entry }) => entry);
  const contentIds = entries.map(({ contentId }) => contentId);
  const matches = await findTexts(selected.shared.account, keys, contentIds);
  const prefixes = keys.some(({ kind }) => kind === 'text')
    ? await readPrefixes(selected, entries)
    : undefined;
  const pause = createPause(selected.shared.account.app.clock);
  const known: Candidate[] = [];
  for (const candidate of candidates) {
    const { contentId, uid } = candidate.entry;
    known.push({ ...candidate, matchingTexts: matches({ contentId, prefix: prefixes?.get(uid) }) });
    await pause();
  }
  await decide(known);
}

/** Returns the highest modseq of what is answered, when the client asks for modseqs (RFC 7162 sections 3.1.5 and 3.1.10). */
function modseqOf({ keys, esearch }: SearchQuery, found: readonly Entry[]): number | undefined {
  if (!keys.some(asksModseq) || found.length === 0) return undefined;
  const isEnds =
    esearch && (esearch.min || esearch.max) && !esearch.all && !esearch.count && !esearch.partial;
  const answered = !isEnds
    ? found
    : [...(esearch.min ? found.slice(0, 1) : []), ...(esearch.max ? found.slice(-1) : [])];
  return answered.reduce((highest, { modseq }) => Math.max(highest, modseq), 0);
}

function asksModseq(key: SearchKey): boolean {
  if (key.kind === 'not') return asksModseq(key.key);
  if (key.kind === 'and' || key.kind === 'or') return key.keys.some(asksModseq);
  return key.kind === 'modseq';
}
