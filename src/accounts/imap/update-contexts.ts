/** Tells a client how the results of its searches have changed (RFC 5267 section 4.3). Only messages that were changed are compared. */
import { writeNoUpdate, writeSearchUpdate } from '../../mail/imap/encode/search.ts';
import type { SearchKey } from '../../mail/imap/search-key.ts';
import type { Arrangement } from '../../mail/imap/session.ts';
import { type SortRow, sortMessages } from '../../mail/imap/sort.ts';
import { nextSlice } from '../../system/slices.ts';
import { finishSteps } from '../../system/steps.ts';
import { finish, readSortRows, sortFound } from './arrange.ts';
import { type WantedItems, wantItems } from './fetch-new.ts';
import { compileSearch } from './search.ts';
import type { SearchContext } from './search-contexts.ts';
import type { SelectedState } from './session-state.ts';
import type { Entry } from './view.ts';

/** Number of messages that are searched before other work runs. */
const MESSAGES_PER_SLICE = 500;
/** Time after which a search with OLDER or YOUNGER runs anew (RFC 5032 section 2). */
const AGE_SEARCH_INTERVAL_MS = 60_000;

/**
 * Returns the responses about all searches that are updated, and adds to `wanted` what they ask of new messages. Messages that were
 * removed were taken out of the results before.
 */
export async function updateContexts(selected: SelectedState, wanted: WantedItems): Promise<string> {
  const { contexts, shared } = selected;
  let responses = '';
  for (const context of contexts.all) {
    try {
      responses += await updateContext(selected, context, wanted);
      if (contexts.hasCapacity()) continue;
      contexts.cancel([context.tag]);
      responses += writeNoUpdate(context.tag, 'The search has too many results');
    } catch (err) {
      // The commands of the client go on without the search.
      shared.account.app.log.warn({ err, accountId: shared.account.id }, 'the update of a search failed');
      contexts.cancel([context.tag]);
      responses += writeNoUpdate(context.tag, 'The search can no longer be updated');
    }
  }
  return responses;
}

async function updateContext(
  selected: SelectedState,
  context: SearchContext,
  wanted: WantedItems,
): Promise<string> {
  const { view } = selected;
  const { highestModseq } = view.state;
  const { checkedUid } = context;
  const candidates = listCandidates(selected, context);
  context.checkedModseq = highestModseq;
  context.checkedUid = view.lastUid;
  if (candidates.length === 0) return '';
  const matching = new Map<number, Entry>();
  const search = compileSearch(selected, context.key);
  for (let from = 0; from < candidates.length; from += MESSAGES_PER_SLICE) {
    const slice = candidates.slice(from, from + MESSAGES_PER_SLICE);
    await selected.shared.loadKeywords(new Set(slice.map(({ keywordSetId }) => keywordSetId)));
    for (const entry of await search(slice)) matching.set(entry.uid, entry);
    await nextSlice();
  }
  const looked = new Set(candidates.map(({ uid }) => uid));
  const removed = context.remove((uid) => looked.has(uid) && !matching.has(uid));
  for (const uid of context.results) matching.delete(uid);
  // Messages that join the result by a change of their flags are known (RFC 5465 section 7).
  for (const uid of matching.keys())
    if (uid > checkedUid && !view.pending.isOwn(uid)) wantItems(wanted, uid, context.items);
  const { arrangement } = context;
  const added =
    arrangement.kind === 'sort'
      ? context.insert(
          await findInsertions(selected, context, { arrangement, entries: [...matching.values()] }),
        )
      : context.addInOrder([...matching.keys()]);
  return writeSearchUpdate(context, { removed, added });
}

/** Returns the messages that may match now and did not before, or the other way round. */
function listCandidates({ view, shared }: SelectedState, context: SearchContext): Entry[] {
  const now = shared.account.app.clock.now();
  const { checkedModseq, checkedUid, checkedAt, key } = context;
  if (asksAge(key) && now - checkedAt >= AGE_SEARCH_INTERVAL_MS) {
    context.checkedAt = now;
    return view.changedSince(0, 0);
  }
  const { lastUid } = view;
  if (view.state.highestModseq === checkedModseq && lastUid === checkedUid) return [];
  const changed = view.changedSince(checkedModseq, checkedUid + 1);
  if (lastUid === checkedUid) return changed;
  // `*` in a set of UIDs was one of these messages, and is the other one now.
  const known = new Set(changed.map(({ uid }) => uid));
  const ends = [checkedUid, lastUid].filter((uid) => !known.has(uid) && !view.state.isRemoved(uid));
  const numbers = [...new Set(ends)].map((uid) => view.numberOf(uid)).filter((number) => number > 0);
  return [...changed, ...numbers.flatMap((number) => view.entries([number, number]))];
}

function asksAge(key: SearchKey): boolean {
  if (key.kind === 'not') return asksAge(key.key);
  if (key.kind === 'and' || key.kind === 'or') return key.keys.some(asksAge);
  return key.kind === 'older' || key.kind === 'younger';
}

type Sorting = Extract<Arrangement, { kind: 'sort' }>;
type Insertion = { index: number; uid: number };

/**
 * Returns the indexes at which these messages belong in a sorted list. The sort keys of a message never change, so a binary search is
 * enough, and reads only the keys that it compares.
 */
async function findInsertions(
  selected: SelectedState,
  { results }: SearchContext,
  { arrangement, entries }: { arrangement: Sorting; entries: readonly Entry[] },
): Promise<Insertion[]> {
  const { view } = selected;
  const rows = new Map<number, SortRow | undefined>();
  const rowOf = async (uid: number): Promise<SortRow | undefined> => {
    if (!rows.has(uid)) {
      const number = view.numberOf(uid);
      const [row] = number > 0 ? await finish(readSortRows(selected, view.entries([number, number]))) : [];
      rows.set(uid, row);
    }
    return rows.get(uid);
  };
  const isBefore = async (one: number, other: number): Promise<boolean> => {
    const pair = [await rowOf(one), await rowOf(other)].filter((row) => row !== undefined);
    const inMailboxOrder = pair.sort((a, b) => a.number - b.number);
    const [first] = finishSteps(sortMessages(inMailboxOrder, arrangement.criteria));
    // A message that can be read no more leaves the list soon.
    return pair.length < 2 || first === view.numberOf(one);
  };
  const inMailboxOrder = [...entries].sort((a, b) => a.number - b.number);
  const insertions: Insertion[] = [];
  let before = 0;
  for (const { uid } of await finish(sortFound(selected, inMailboxOrder, arrangement))) {
    let low = before;
    let high = results.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (await isBefore(results[middle] as number, uid)) low = middle + 1;
      else high = middle;
    }
    before = low;
    insertions.push({ index: low + insertions.length, uid });
  }
  return insertions;
}
