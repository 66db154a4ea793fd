/** Tells which UIDs were removed since a modseq (RFC 7162 section 3.2.10.1). */
import { LAST, resolveRanges, type SequenceRange, type SequenceSet } from '../../mail/imap/sequence-set.ts';
import { listExpunged } from '../expunged-store.ts';
import { findFolderById } from '../folder-store.ts';
import type { SelectedState } from './session-state.ts';
import { lowerBound } from './sorted-uids.ts';
import type { View } from './view.ts';

type Since = { set: SequenceSet; modseq: number };

/**
 * Returns the VANISHED (EARLIER) response; empty when nothing was removed. When tombstones were forgotten, all UIDs of the set that do
 * not exist are named, which is never wrong. Messages that have a sequence number are told with the next changes.
 */
export async function writeVanished(selected: SelectedState, { set, modseq }: Since): Promise<string> {
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
