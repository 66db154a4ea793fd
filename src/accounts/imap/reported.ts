/**
 * The state of the selected folder that the client of a session knows since the last report: the sequence numbers of its messages, which of them are
 * `\Recent`, and up to which change. Each report replaces it as a whole.
 */

import type { SequenceRange } from '../../mail/imap/sequence-set.ts';
import type { FolderState } from './folder-state.ts';
import { lowerBound } from './sorted-uids.ts';

export type Reported = {
  /** UIDs by sequence number, from 0; the first `count` of them. Sessions share the list of the state where it is the same. */
  readonly uids: Uint32Array;
  readonly count: number;
  /** Number of the last removal that is reported. */
  readonly removal: number;
  /** Modseq up to which all changes are reported. */
  readonly modseq: number;
  /** Ranges of UIDs that rise. */
  readonly recent: readonly SequenceRange[];
};

/** A message that has no sequence number any more, with the one that it had. */
export type Removed = { number: number; uid: number };

/** Returns what a client knows that has just selected the folder. */
export function reportAll(state: FolderState): Reported {
  const uids = state.presentUids();
  const count = uids === state.uids ? state.count : uids.length;
  const first = { uids, count, removal: state.lastRemoval, modseq: state.highestModseq, recent: [] };
  return withRecent(first, state, 1);
}

export function lastUidOf({ uids, count }: Reported): number {
  return count === 0 ? 0 : (uids[count - 1] as number);
}

/** Gives sequence numbers to messages that have arrived. */
export function reportNew(reported: Reported, state: FolderState): Reported {
  const firstUid = lastUidOf(reported) + 1;
  const from = lowerBound(state.uids, state.count, firstUid);
  if (from === state.count) return sharing(reported, state);
  const isSame = from === reported.count && !state.hasGone;
  const added = isSame
    ? []
    : [...state.uids.subarray(from, state.count)].filter((_, at) => !state.isGone(from + at));
  const uids = isSame ? state.uids : joined(reported, added);
  const count = isSame ? state.count : reported.count + added.length;
  return withRecent(sharing({ ...reported, uids, count }, state), state, firstUid);
}

/** Takes the sequence numbers of removed messages away, the last one first, as far as `isReported` says so. */
export function reportRemoved(
  reported: Reported,
  state: FolderState,
  isReported: (uid: number) => boolean,
): { reported: Reported; removed: Removed[] } {
  const removed: Removed[] = [];
  const uids = new Uint32Array(reported.count);
  let count = 0;
  let index = 0;
  for (let from = 0; from < reported.count; from++) {
    const uid = reported.uids[from] as number;
    while (index < state.count && (state.uids[index] as number) < uid) index++;
    const isGone = state.uids[index] !== uid || state.isGone(index);
    if (isGone && isReported(uid)) removed.push({ number: from + 1, uid });
    else uids[count++] = uid;
  }
  return { reported: { ...reported, uids, count }, removed: removed.reverse() };
}

export function isRecent({ recent }: Reported, uid: number): boolean {
  const last = recent.findLast(([from]) => from <= uid);
  return last !== undefined && uid <= last[1];
}

/** Messages are recent for the first session to which they are reported. The session claims them when it selects the folder to write. */
function withRecent(reported: Reported, state: FolderState, firstUid: number): Reported {
  const lastUid = lastUidOf(reported);
  const from = Math.max(firstUid, state.recentFrom);
  if (from > lastUid) return reported;
  const last = reported.recent.at(-1);
  const recent: SequenceRange[] =
    last?.[1] === firstUid - 1 && from === firstUid
      ? [...reported.recent.slice(0, -1), [last[0], lastUid]]
      : [...reported.recent, [from, lastUid]];
  return { ...reported, recent };
}

/**
 * Takes the list of the state when it is the same, because hundreds of sessions can have selected a large folder. A message that the
 * client knows stays in that list, so lists of the same length are the same.
 */
function sharing(reported: Reported, { uids, count }: FolderState): Reported {
  return reported.count === count && reported.uids !== uids ? { ...reported, uids } : reported;
}

function joined({ uids, count }: Reported, added: readonly number[]): Uint32Array {
  const larger = new Uint32Array(count + added.length);
  larger.set(uids.subarray(0, count));
  larger.set(added, count);
  return larger;
}
