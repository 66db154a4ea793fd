/** FETCH over an account (RFC 9051 section 6.4.5). Messages are read by ranges of UIDs, and answered while the next ones are read. */
import { pageOfRanges } from '../../mail/imap/page-range.ts';
import type { SequenceRange } from '../../mail/imap/sequence-set.ts';
import type { Chunks, FetchQuery } from '../../mail/imap/session.ts';
import { AppError } from '../../system/errors.ts';
import { createPause } from '../../system/slices.ts';
import { SEEN } from '../flags.ts';
import {
  type Fetched,
  type Omission,
  unreadable,
  writeLongResponse,
  writeResponse,
  writeShortResponse,
} from './fetch-items.ts';
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
/** Number of messages whose ENVELOPE or structure is read at once, because strangers can send some of half a megabyte. */
const DESCRIBED_PER_SLICE = 50;

/** Yields FETCH responses. */
export async function* fetchMessages(selected: SelectedState, query: FetchQuery): Chunks {
  const found = selected.view.find(query.set, query.uid);
  if (!found) return outOfRange();
  selected.view.pending.isFetching = true;
  const { changedSince, partial } = query;
  const ranges = partial ? pageOfRanges(found, partial) : found;
  const plan = planFetch(query.items, selected.features());
  const responses = new Responses();
  if (query.vanished && changedSince !== undefined)
    responses.add(await writeVanished(selected, { set: query.set, modseq: changedSince }));
  const omissions = new Set<Omission>();
  // A client that reads quickly takes what was read without a turn of the event loop.
  const pause = createPause(selected.shared.account.app.clock);
  const answer = { plan, responses, pause };
  const size = plan.isDescribed ? DESCRIBED_PER_SLICE : MESSAGES_PER_SLICE;
  for (const slice of slicesOf(ranges, size)) {
    const { entries, unseen } = await openSlice(selected, { plan, slice, changedSince, responses });
    for await (const batch of readBatches(selected, entries, plan)) {
      for (const { entry, stored } of batch) {
        const message = { entry, stored, isNewlySeen: unseen.has(entry.uid) };
        if (plan.octetColumns.length === 0) writeResponse(selected, message, answer);
        else {
          let omission = writeShortResponse(selected, message, answer);
          if (omission === false) {
            const result = yield* writeLongResponse(selected, message, answer);
            if (typeof result === 'object') return result;
            omission = result;
          }
          if (omission) omissions.add(omission);
        }
        if (responses.isFull) yield* responses.take();
        const turn = pause();
        if (turn !== undefined) await turn;
      }
    }
    yield NOTHING_YET;
  }
  yield* responses.take();
  // All other messages were answered first, so that a client which connects again goes on with what it lacks.
  if (omissions.has('damaged')) return unreadable();
  if (!omissions.has('unknown')) return undefined;
  return { refused: 'NO', code: 'UNKNOWN-CTE', text: 'A transfer encoding is unknown' };
}

type Slice = {
  plan: FetchPlan;
  slice: SequenceRange;
  changedSince: number | undefined;
  responses: Responses;
};

/** Returns the messages of a slice that are answered, as they are after `\Seen` was set, and the UIDs of those that did not have it. */
async function openSlice(
  selected: SelectedState,
  { plan, slice, changedSince, responses }: Slice,
): Promise<{ entries: Entry[]; unseen: ReadonlySet<number> }> {
  const listWanted = (): Entry[] => {
    const entries = selected.view.entries(slice);
    if (changedSince === undefined) return entries;
    return entries.filter(({ modseq, isGone }) => modseq > changedSince && !isGone);
  };
  const wanted = listWanted();
  const unseen = await setSeen(selected, wanted, plan);
  const entries = unseen.size > 0 ? listWanted() : wanted;
  if (plan.showsFlags || unseen.size > 0) await loadKeywords(selected, entries, responses);
  return { entries, unseen };
}

type Read = Pick<Fetched, 'entry' | 'stored'>;

/** Yields the messages of a slice, some at a time. One that can be read no more is left out. */
async function* readBatches(
  selected: SelectedState,
  entries: readonly Entry[],
  { columns, octetColumns, needsMessage }: FetchPlan,
): AsyncGenerator<Read[]> {
  if (!needsMessage) {
    yield entries.map((entry) => ({ entry, stored: undefined }));
    return;
  }
  const facts = await readStored(selected, entries, columns);
  const sizes = facts.map((fact) => fact?.sizeBytes);
  for (const [from, to] of batchesOf(sizes, octetColumns)) {
    const batch = entries.slice(from, to);
    const octets = octetColumns.length > 0 ? await readStored(selected, batch, octetColumns) : undefined;
    yield batch.flatMap((entry, index): Read[] => {
      const [fact, octet] = [facts[from + index], octets?.[index]];
      if (!fact || (octets && !octet)) return [];
      return [{ entry, stored: octet ? Object.assign(octet, fact) : fact }];
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
