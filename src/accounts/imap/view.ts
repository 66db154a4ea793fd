/** The selected folder as the client of one session sees it: what was reported (reported.ts), and what the next reports bring (pending.ts). */

import { resolveRanges, type SequenceRange, type SequenceSet } from '../../mail/imap/sequence-set.ts';
import type { FolderChange } from '../changes.ts';
import { type FolderState, GONE } from './folder-state.ts';
import { Pending } from './pending.ts';
import {
  isRecent,
  lastUidOf,
  type Removed,
  type Reported,
  reportAll,
  reportNew,
  reportRemoved,
} from './reported.ts';
import { indexOfUid, lowerBound } from './sorted-uids.ts';

/** A message as the client may ask for it. */
export type Entry = {
  /** Sequence number. */
  number: number;
  uid: number;
  /** Content of the message; 0 when the message can be read no more. */
  contentId: number;
  flags: number;
  keywordSetId: number;
  modseq: number;
  isRecent: boolean;
  /** Another session has removed the message, which was not reported yet. */
  isGone: boolean;
};

export class View {
  readonly state: FolderState;
  readonly isReadOnly: boolean;
  readonly pending = new Pending();
  /** UIDs of the saved result of a search (RFC 5182), which rise. */
  saved: readonly number[] = [];
  #reported: Reported;
  /** The session, as its changes name it. */
  readonly #origin: object | undefined;
  #listeners: readonly (() => void)[] = [];

  constructor(state: FolderState, { isReadOnly, origin }: { isReadOnly: boolean; origin?: object }) {
    this.state = state;
    this.#origin = origin;
    this.isReadOnly = isReadOnly;
    this.#reported = reportAll(state);
    this.#claimRecent();
    state.views.add(this);
  }

  /** The state of the folder that the client knows since the last report. */
  get reported(): Reported {
    return this.#reported;
  }

  get uids(): Uint32Array {
    return this.#reported.uids;
  }

  get count(): number {
    return this.#reported.count;
  }

  get lastUid(): number {
    return lastUidOf(this.#reported);
  }

  get recentCount(): number {
    return this.#reported.recent.reduce((count, [from, to]) => count + this.#countUids(from, to), 0);
  }

  /** Calls the listener when the state has changed, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  notify(change: FolderChange): void {
    this.pending.note(change, { isOwn: this.#origin !== undefined && change.origin === this.#origin });
    for (const listener of this.#listeners) listener();
  }

  /** Gives sequence numbers to messages that have arrived. Returns their number. */
  addNew(): number {
    const before = this.count;
    this.#reported = reportNew(this.#reported, this.state);
    if (this.count > before) this.#claimRecent();
    return this.count - before;
  }

  /**
   * Takes the sequence numbers of removed messages away, and returns what they were, the last one first. `onlyOwn` leaves the messages
   * that others have removed, for a client that does not want to know of them.
   */
  removeGone({ onlyOwn }: { onlyOwn: boolean }): Removed[] {
    const { ownRemoved } = this.pending;
    const { lastRemoval } = this.state;
    if ((onlyOwn && !ownRemoved?.size) || this.#reported.removal === lastRemoval) return [];
    const isWanted = (uid: number): boolean => !onlyOwn || ownRemoved?.has(uid) === true;
    const { reported, removed } = reportRemoved(this.#reported, this.state, isWanted);
    this.#reported = onlyOwn ? reported : { ...reported, removal: lastRemoval };
    this.pending.forgetOwnRemoved();
    return removed;
  }

  /** Notes that the client knows all changes up to the last one. */
  reportFlags(): void {
    this.#reported = { ...this.#reported, modseq: this.state.highestModseq };
    this.pending.forgetOwnFlags();
  }

  /**
   * Returns the sequence numbers of a set as ranges that rise. UIDs that do not exist are left out; undefined means that a sequence
   * number does not exist.
   */
  find(set: SequenceSet, uid: boolean): SequenceRange[] | undefined {
    if (set === '$') return this.#savedRanges();
    const ranges = resolveRanges(set, uid ? this.lastUid : this.count);
    if (!uid) return ranges.every(([from, to]) => from >= 1 && to <= this.count) ? ranges : undefined;
    const found = ranges.map(
      ([from, to]): SequenceRange => [
        lowerBound(this.uids, this.count, from) + 1,
        lowerBound(this.uids, this.count, to + 1),
      ],
    );
    return found.filter(([from, to]) => from <= to);
  }

  /** Returns the UIDs of sequence numbers as ranges. All messages of the folder in them have sequence numbers. */
  uidRanges(ranges: readonly SequenceRange[]): { uidFrom: number; uidTo: number }[] {
    return ranges.map(([from, to]) => ({
      uidFrom: this.uids[from - 1] as number,
      uidTo: this.uids[to - 1] as number,
    }));
  }

  /** Returns the messages of a range of sequence numbers as they are now. */
  entries([from, to]: SequenceRange): Entry[] {
    const { state } = this;
    const entries: Entry[] = [];
    let index = lowerBound(state.uids, state.count, this.uids[from - 1] ?? 0);
    for (let number = from; number <= to; number++) {
      const uid = this.uids[number - 1] as number;
      while (index < state.count && (state.uids[index] as number) < uid) index++;
      entries.push(this.#entry(number, uid, index));
    }
    return entries;
  }

  /** Returns the sequence number of a message; 0 when it has none. */
  numberOf(uid: number): number {
    return indexOfUid(this.uids, this.count, uid) + 1;
  }

  /** Returns the messages with sequence numbers that were changed after this modseq, or that have this UID or a later one. */
  changedSince(modseq: number, uidFrom: number): Entry[] {
    const { state } = this;
    const entries: Entry[] = [];
    for (let index = 0; index < state.count; index++) {
      const uid = state.uids[index] as number;
      if (((state.modseqs[index] as number) <= modseq && uid < uidFrom) || state.isGone(index)) continue;
      const number = this.numberOf(uid);
      if (number > 0) entries.push(this.#entry(number, uid, index));
    }
    return entries;
  }

  /** Returns the first `count` messages by sequence number that others have changed and whose changes were not reported. */
  unreported(count: number): Entry[] {
    const { state, pending } = this;
    const { uids, modseq: reportedModseq } = this.#reported;
    const entries: Entry[] = [];
    if (pending.otherModseq <= reportedModseq) return entries;
    for (let index = 0; index < state.count; index++) {
      const modseq = state.modseqs[index] as number;
      if (modseq <= reportedModseq || pending.isOwnChange(modseq) || state.isGone(index)) continue;
      const uid = state.uids[index] as number;
      const number = indexOfUid(uids, count, uid) + 1;
      if (number > 0) entries.push(this.#entry(number, uid, index));
    }
    return entries;
  }

  /** Adds the messages whose flags the client may have missed to those that are reported now, in order, and forgets the former. */
  withMissedFlags(reported: Entry[]): Entry[] {
    const missed = this.pending.takeMissedFlags();
    if (!missed) return reported;
    const uids = new Set([...reported.map(({ uid }) => uid), ...missed]);
    const numbers = [...uids].map((uid) => this.numberOf(uid)).filter((number) => number > 0);
    return numbers.sort((a, b) => a - b).flatMap((number) => this.entries([number, number]));
  }

  #entry(number: number, uid: number, index: number): Entry {
    const { state } = this;
    const isKnown = index < state.count && state.uids[index] === uid;
    const flags = isKnown ? (state.flags[index] as number) : GONE;
    return {
      number,
      uid,
      contentId: isKnown ? (state.contentIds[index] as number) : 0,
      flags: flags & ~GONE,
      keywordSetId: isKnown ? (state.keywordSetIds[index] as number) : 0,
      modseq: isKnown ? (state.modseqs[index] as number) : 0,
      isRecent: this.#reported.recent.length > 0 && isRecent(this.#reported, uid),
      isGone: (flags & GONE) !== 0,
    };
  }

  /** Messages that were reported to a session that can write are recent for no other one. */
  #claimRecent(): void {
    const { state, lastUid } = this;
    if (!this.isReadOnly) state.recentFrom = Math.max(state.recentFrom, lastUid + 1);
  }

  #savedRanges(): SequenceRange[] {
    const ranges: [number, number][] = [];
    for (const uid of this.saved) {
      const number = indexOfUid(this.uids, this.count, uid) + 1;
      const last = ranges.at(-1);
      if (number === 0) continue;
      if (last?.[1] === number - 1) last[1] = number;
      else ranges.push([number, number]);
    }
    return ranges;
  }

  #countUids(from: number, to: number): number {
    return lowerBound(this.uids, this.count, to + 1) - lowerBound(this.uids, this.count, from);
  }
}
