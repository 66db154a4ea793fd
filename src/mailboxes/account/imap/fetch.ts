/** FETCH over an account (RFC 9051 section 6.4.5). Messages are read by ranges of UIDs, and answered while the next ones are read. */
import { pageOfRanges } from '../../../mail/imap/page-range.ts';
import type { SequenceRange } from '../../../mail/imap/sequence-set.ts';
import { type Chunks, type FetchQuery, isRefusal } from '../../../mail/imap/session.ts';
import { AppError } from '../../../system/errors.ts';
import { createPause, nextTurn } from '../../../system/next-turn.ts';
import { SEEN } from '../flags.ts';
import { type Fetched, unreadable, writeLongResponse, writeResponse } from './fetch-items.ts';
import { type FetchPlan, planFetch } from './fetch-plan.ts';
import { outOfRange } from './refusals.ts';
import { NOTHING_YET, Responses } from './responses.ts';
import { loadKeywords, type SelectedState } from './session-state.ts';
import { slicesOf } from './slices.ts';
import { commitFlags } from './store-flags.ts';
import { batchesOf, readStored } from './stored.ts';
import { writeVanished } from './vanished.ts';
import type { Entry } from './view.ts';

/** Number of messages whose facts are read at once: about 5 ms. */
const MESSAGES_PER_SLICE = 500;
/** Number of messages whose ENVELOPE or structure is read at once, because strangers can send some of half a megabyte. Our own limit. */
const DESCRIBED_PER_SLICE = 50;

/** Yields FETCH responses. */
export async function* fetchMessages(selected: SelectedState, query: FetchQuery): Chunks {
  const found = selected.view.find(query.set, query.uid);
  if (!found) return outOfRange();
  selected.view.isFetching = true;
  const { changedSince, partial } = query;
  const ranges = partial ? pageOfRanges(found, partial) : found;
  const plan = planFetch(query.items, selected.features());
  const responses = new Responses();
  if (query.vanished && changedSince !== undefined)
    responses.add(await writeVanished(selected, { set: query.set, modseq: changedSince }));
  let isUnknown = false;
  let isDamaged = false;
  // Some hundred KiB of messages are read at once, and a client that reads quickly takes them without a turn of the event loop.
  const pause = createPause(selected.shared.account.app.clock);
  const size = plan.isDescribed ? DESCRIBED_PER_SLICE : MESSAGES_PER_SLICE;
  for (const slice of slicesOf(ranges, size)) {
    for await (const batch of readBatches(selected, { plan, slice, changedSince, responses })) {
      for (const message of batch) {
        if (plan.octetColumns.length === 0) writeResponse(selected, message, { plan, responses });
        else {
          const result = yield* writeLongResponse(selected, message, { plan, responses });
          if (isRefusal(result)) return result;
          isUnknown ||= result.isUnknown;
          isDamaged ||= result.isDamaged;
          await pause();
        }
        if (responses.isFull) yield* responses.take();
      }
    }
    await nextTurn();
    yield NOTHING_YET;
  }
  yield* responses.take();
  // All other messages were answered first, so that a client which connects again goes on with what it lacks.
  if (isDamaged) return unreadable();
  if (!isUnknown) return undefined;
  return { refused: 'NO', code: 'UNKNOWN-CTE', text: 'A transfer encoding is unknown' };
}

type Slice = {
  plan: FetchPlan;
  slice: SequenceRange;
  changedSince: number | undefined;
  responses: Responses;
};

/** Yields the messages of a slice, some at a time. One that can be read no more is left out. */
async function* readBatches(
  selected: SelectedState,
  { plan, slice, changedSince, responses }: Slice,
): AsyncGenerator<Fetched[]> {
  const { view } = selected;
  const listWanted = (): Entry[] => {
    const entries = view.entries(slice);
    if (changedSince === undefined) return entries;
    return entries.filter(({ modseq, isGone }) => modseq > changedSince && !isGone);
  };
  const wanted = listWanted();
  const unseen = await setSeen(selected, wanted, plan);
  const entries = unseen.size > 0 ? listWanted() : wanted;
  if (plan.showsFlags || unseen.size > 0) await loadKeywords(selected, entries, responses);
  const isNewlySeen = (entry: Entry): boolean => unseen.has(entry.uid);
  if (!plan.needsMessage) {
    yield entries.map((entry) => ({ entry, stored: undefined, isNewlySeen: isNewlySeen(entry) }));
    return;
  }
  const facts = await readStored(selected, entries, plan.columns);
  for (const batch of batchesOf(entries, facts, plan.octetColumns)) {
    const octets =
      plan.octetColumns.length > 0 ? await readStored(selected, batch, plan.octetColumns) : facts;
    yield batch.flatMap((entry) => {
      const [fact, octet] = [facts.get(entry.uid), octets.get(entry.uid)];
      if (!fact || !octet) return [];
      const stored = fact === octet ? fact : { ...octet, ...fact };
      return { entry, stored, isNewlySeen: isNewlySeen(entry) };
    });
  }
}

/** Sets `\Seen` where reading the items does so. Returns the UIDs of messages that did not have it. */
async function setSeen(
  selected: SelectedState,
  entries: readonly Entry[],
  plan: FetchPlan,
): Promise<ReadonlySet<number>> {
  if (!plan.setsSeen || selected.view.isReadOnly) return new Set();
  const unseen = entries.filter(({ flags, isGone }) => (flags & SEEN) === 0 && !isGone);
  if (unseen.length === 0) return new Set();
  const ranges = unseen.map(({ uid }) => ({ uidFrom: uid, uidTo: uid }));
  const { folderId } = selected.view.state;
  try {
    const change = { folderId, ranges, action: 'add', names: ['\\Seen'], unchangedSince: undefined } as const;
    await commitFlags(selected, change);
  } catch (error) {
    // A full disk does not keep anybody from reading.
    if (error instanceof AppError && error.code === 'unavailable') return new Set();
    throw error;
  }
  return new Set(unseen.map(({ uid }) => uid));
}
