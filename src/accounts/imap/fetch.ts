/** FETCH over an account (RFC 9051 section 6.4.5). Messages are read by ranges of UIDs, and answered while the next ones are read. */

import {
  LAST,
  pageOfRanges,
  resolveRanges,
  type SequenceRange,
  type SequenceSet,
} from '../../mail/imap/sequence-set.ts';
import type { Chunks, FetchQuery } from '../../mail/imap/session.ts';
import { AppError } from '../../system/errors.ts';
import { createPause } from '../../system/slices.ts';
import { listExpunged } from '../expunged-store.ts';
import { SEEN } from '../flags.ts';
import { findFolderById } from '../folder-store.ts';
import {
  type Fetched,
  type Omission,
  unreadable,
  writeLongResponse,
  writeResponse,
  writeShortResponse,
} from './fetch-items.ts';
import { type FetchPlan, planFetch } from './fetch-plan.ts';
import { NOTHING_YET, outOfRange, Responses } from './responses.ts';
import { loadKeywords, type SelectedState } from './session-state.ts';
import { slicesOf } from './slices.ts';
import { lowerBound } from './sorted-uids.ts';
import { commitFlags } from './store-flags.ts';
import { batchesOf, readStored } from './stored.ts';
import type { Entry, View } from './view.ts';

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

/** Tells which UIDs were removed since a modseq (RFC 7162 section 3.2.10.1). */
type Since = { set: SequenceSet; modseq: number };

/**
 * Returns the VANISHED (EARLIER) response; empty when nothing was removed. When tombstones were forgotten, all UIDs of the set that do
 * not exist are named, which is never wrong. Messages that have a sequence number are told with the next changes.
 */
async function writeVanished(selected: SelectedState, { set, modseq }: Since): Promise<string> {
  const { view, shared } = selected;
  const { folderId, uidNext } = view.state;
  if (set === '$' || uidNext === 1) return '';
  const asked = resolveRanges(set, uidNext - 1);
  const { read } = shared.account.db;
  const folder = await findFolderById(read, folderId);
  const removed: SequenceRange[] =
    !folder || modseq < folder.tombstoneFloor
      ? [[1, uidNext - 1]]
      : (await listExpunged(read, { folderId, modseq })).map(({ uidFrom, uidTo }) => [uidFrom, uidTo]);
  const vanished = withoutKnown(intersect(asked, resolveRanges(removed, LAST)), view);
  if (vanished.length === 0) return '';
  const ranges = vanished.map(([from, to]) => (from === to ? `${from}` : `${from}:${to}`));
  return `* VANISHED (EARLIER) ${ranges.join()}\r\n`;
}

/** Returns what is in both lists, whose ranges rise and are apart. */
function intersect(a: readonly SequenceRange[], b: readonly SequenceRange[]): SequenceRange[] {
  const common: SequenceRange[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [fromA, toA] = a[i] as SequenceRange;
    const [fromB, toB] = b[j] as SequenceRange;
    const [from, to] = [Math.max(fromA, fromB), Math.min(toA, toB)];
    if (from <= to) common.push([from, to]);
    if (toA < toB) i++;
    else j++;
  }
  return common;
}

/** Returns the ranges without the UIDs of messages that have sequence numbers. */
function withoutKnown(ranges: readonly SequenceRange[], { uids, count }: View): SequenceRange[] {
  const absent: SequenceRange[] = [];
  for (const [from, to] of ranges) {
    let start = from;
    for (let index = lowerBound(uids, count, from); index < count; index++) {
      const uid = uids[index] as number;
      if (uid > to) break;
      if (uid > start) absent.push([start, uid - 1]);
      start = uid + 1;
    }
    if (start <= to) absent.push([start, to]);
  }
  return absent;
}
