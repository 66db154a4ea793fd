/** STORE over an account (RFC 9051 section 6.4.6, RFC 7162 section 3.1.3). */

import { formatNumbers, type SequenceRange } from '../../mail/imap/sequence-set.ts';
import type { Chunks, StoreQuery } from '../../mail/imap/session.ts';
import { createPause, nextSlice } from '../../system/slices.ts';
import {
  changeFlags,
  changeForeseenFlags,
  type FlagChange,
  type FlagsChanged,
  makePlainEdits,
} from '../change-flags.ts';
import { outOfRange, Responses } from './responses.ts';
import { flagsItem, loadKeywords, type SelectedState } from './session-state.ts';
import { groupsOf, slicesOf } from './slices.ts';
import type { Entry, View } from './view.ts';

/** Number of messages that are answered before other work runs. */
const MESSAGES_PER_SLICE = 1_000;
/** Maximum number of messages whose rows one commit changes. Other accounts of the thread wait meanwhile: about 10 ms. */
const MESSAGES_PER_COMMIT = 10_000;

/** Number of messages from which on a change is committed before their rows are written, where it has no keywords. Our own. */
const MIN_PENDING_MESSAGES = 8;
/** Maximum number of ranges of such a change. */
const MAX_PENDING_RANGES = 16;

/** Changes flags, and yields FETCH responses. */
export async function* storeFlags(selected: SelectedState, query: StoreQuery): Chunks {
  const { view } = selected;
  const ranges = view.find(query.set, query.uid);
  if (!ranges) return outOfRange();
  const { modified, untold } = await change(selected, ranges, query);
  const responses = new Responses();
  const pause = createPause(selected.account.app.clock);
  const isQuiet = query.silent && untold.size === 0 && !showsModseq(selected, query);
  for (const slice of slicesOf(isQuiet ? [] : ranges, MESSAGES_PER_SLICE)) {
    const entries = view.entries(slice).filter(({ isGone }) => !isGone);
    if (!query.silent || untold.size > 0) await loadKeywords(selected, entries, responses);
    for (const entry of entries) {
      const isUntold = untold.has(entry.uid);
      // The client also learns why a change has failed (RFC 7162 section 3.1.3, example 6).
      if (modified.has(entry.uid) && !isUntold) continue;
      const items = itemsOf(selected, entry, { ...query, silent: query.silent && !isUntold });
      if (items.length > 0) responses.add(`* ${entry.number} FETCH (${items.join(' ')})\r\n`);
      // A message can have many long keywords.
      if (responses.isFull) yield* responses.take();
      const turn = pause();
      if (turn !== undefined) await turn;
    }
    await nextSlice();
  }
  yield* responses.take();
  if (modified.size === 0) return undefined;
  return { noticed: `MODIFIED ${formatNumbers(failedNumbers(selected, ranges, { ...query, modified }))}` };
}

type Change = {
  /** UIDs that were changed after UNCHANGEDSINCE. */
  modified: ReadonlySet<number>;
  /** UIDs whose flags others had changed without the client's knowledge, so that it must be told of them. */
  untold: ReadonlySet<number>;
};

async function change(
  selected: SelectedState,
  ranges: readonly SequenceRange[],
  { action, flags, unchangedSince }: Pick<StoreQuery, 'action' | 'flags' | 'unchangedSince'>,
): Promise<Change> {
  const { view } = selected;
  const { folderId } = view.state;
  const untold = new Set<number>();
  const modified = new Set<number>();
  const storeOf = (group: readonly SequenceRange[]): FlagChange => {
    return { folderId, ranges: view.uidRanges(group), action, names: flags, unchangedSince };
  };
  const noteUntold = (): void => {
    for (const { uid } of view.unreported(view.count)) untold.add(uid);
  };
  const noteModified = (changed: FlagsChanged, group: readonly SequenceRange[]): void => {
    for (const uid of changed.modified) modified.add(uid);
    if (unchangedSince === undefined) return;
    // A message that was removed was changed by that (RFC 7162 section 3.1.3, example 10).
    for (const range of group)
      for (const { uid, isGone } of view.entries(range)) if (isGone) modified.add(uid);
  };
  const atOnce = await commitForeseen(selected, storeOf(ranges), noteUntold);
  if (atOnce) noteModified(atOnce, ranges);
  else
    for (const group of groupsOf(ranges, MESSAGES_PER_COMMIT))
      noteModified(await commitRows(selected, storeOf(group), noteUntold), group);
  return { modified, untold };
}

/**
 * Changes flags for the client of a session, which then knows of the change.
 * @param beforePublishing runs once the change is on disk, before the sessions are told
 */
export async function commitFlags(
  selected: SelectedState,
  change: FlagChange,
  beforePublishing?: () => void,
): Promise<FlagsChanged> {
  const atOnce = await commitForeseen(selected, change, beforePublishing);
  return atOnce ?? (await commitRows(selected, change, beforePublishing));
}

/** Commits a change of many messages before their rows are written; undefined when their rows must be written at once. */
async function commitForeseen(
  selected: SelectedState,
  change: FlagChange,
  beforePublishing?: () => void,
): Promise<FlagsChanged | undefined> {
  const { account, view } = selected;
  const { folderId } = change;
  const edits = isLarge(view, change) ? makePlainEdits(change) : undefined;
  if (!edits) return undefined;
  const foreseen = view.state.foresee(edits);
  return await account.db.commit(changeForeseenFlags, { folderId, edits, foreseen }, (changed) => {
    if (changed) publish(selected, { folderId, changed, beforePublishing });
  });
}

async function commitRows(
  selected: SelectedState,
  change: FlagChange,
  beforePublishing?: () => void,
): Promise<FlagsChanged> {
  const { folderId } = change;
  return await selected.account.db.commit(changeFlags, change, (changed) =>
    publish(selected, { folderId, changed, beforePublishing }),
  );
}

function isLarge({ state }: View, { ranges }: FlagChange): boolean {
  if (ranges.length > MAX_PENDING_RANGES) return false;
  const messages = ranges.reduce((sum, { uidFrom, uidTo }) => sum + state.countBetween(uidFrom, uidTo), 0);
  return messages >= MIN_PENDING_MESSAGES;
}

type Published = { folderId: number; changed: FlagsChanged; beforePublishing: (() => void) | undefined };

function publish({ account, view }: SelectedState, { folderId, changed, beforePublishing }: Published): void {
  const { modseq, edits, isPending } = changed;
  beforePublishing?.();
  if (modseq === undefined) return;
  view.pending.own.modseqs.add(modseq);
  account.changes.publish({ kind: 'flags', folderId, modseq, edits });
  if (isPending) account.settler.settleLater(folderId);
}

type Answer = Pick<StoreQuery, 'uid' | 'silent' | 'unchangedSince'>;

function itemsOf(selected: SelectedState, entry: Entry, { uid, silent, unchangedSince }: Answer): string[] {
  const condstore = showsModseq(selected, { unchangedSince });
  if (silent && !condstore) return [];
  return [
    ...(uid || selected.features().qresync ? [`UID ${entry.uid}`] : []),
    ...(silent ? [] : [flagsItem(selected, entry)]),
    ...(condstore ? [`MODSEQ (${entry.modseq})`] : []),
  ];
}

function showsModseq(
  { features }: SelectedState,
  { unchangedSince }: Pick<StoreQuery, 'unchangedSince'>,
): boolean {
  return features().condstore || unchangedSince !== undefined;
}

type Failed = Pick<StoreQuery, 'uid'> & { modified: ReadonlySet<number> };

function failedNumbers(
  { view }: SelectedState,
  ranges: readonly SequenceRange[],
  { uid, modified }: Failed,
): number[] {
  return ranges
    .flatMap((range) => view.entries(range))
    .filter((entry) => modified.has(entry.uid))
    .map((entry) => (uid ? entry.uid : entry.number));
}
