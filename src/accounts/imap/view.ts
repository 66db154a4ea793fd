/**
 * Keeps what the client of one session knows about the selected folder: the sequence numbers of messages, which of them are `\Recent`,
 * and up to which modseq it was told of changes. Sequence numbers change only when the client is told.
 */
import { resolveRanges, type SequenceRange, type SequenceSet } from '../../mail/imap/sequence-set.ts';
import type { FolderChange } from '../changes.ts';
import { type FolderState, GONE } from './folder-state.ts';
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
  /** Another session has removed the message, and the client was not told yet. */
  isGone: boolean;
};

/** Changes that a client has made itself. */
type OwnChanges = {
  /** Numbers of changes of flags. */
  modseqs: Set<number>;
  /** UIDs of messages that were added. */
  added: Set<number>;
  /** UIDs of messages that were removed, of which the client is told whatever else it wants to know. */
  removed: Set<number>;
};

/**
 * Maximum number of messages whose flags are told again. Our own limit: whoever has changed more at once while a client fetched is seldom
 * another person, and clients compare all flags from time to time.
 */
const MAX_MISSED_FLAGS = 1_000;

export class View {
  readonly state: FolderState;
  readonly isReadOnly: boolean;
  count = 0;
  /** UIDs by sequence number, from 0. Only this class changes them. */
  uids: Uint32Array;
  toldRemoval: number;
  /** Modseq up to which the client knows all changes. */
  toldModseq: number;
  /** Number of the last change of flags that the client has not made itself. */
  #otherModseq = 0;
  /** UIDs of the saved result of a search (RFC 5182), which rise. */
  saved: readonly number[] = [];
  /** The client has just asked for modseqs for the first time, and is told the highest one (RFC 7162 section 3.1). */
  owesHighestModseq = false;
  /** The command that runs is a FETCH. */
  isFetching = false;
  /** The client was told of new messages at the end of a FETCH. */
  mayHaveMissedExists = false;
  /** UIDs of messages of whose flags the client was told at the end of a FETCH. */
  #missedFlags: Set<number> | undefined;
  /** The client itself has deleted the folder. */
  isDeletedHere = false;
  /** Own changes of the client. Most sessions only read, and have none. */
  #changed: OwnChanges | undefined;
  /** The session, as its changes name it. */
  readonly #origin: object | undefined;
  /** Ranges of UIDs that rise. */
  readonly #recent: [from: number, to: number][] = [];
  #listeners: readonly (() => void)[] = [];
  /** True while `uids` is the list of the state, or was it, so that it must not be changed here. */
  #isShared: boolean;

  constructor(state: FolderState, { isReadOnly, origin }: { isReadOnly: boolean; origin?: object }) {
    this.state = state;
    this.#origin = origin;
    this.isReadOnly = isReadOnly;
    this.uids = state.presentUids();
    this.#isShared = this.uids === state.uids;
    this.count = this.#isShared ? state.count : this.uids.length;
    this.toldRemoval = state.lastRemoval;
    this.toldModseq = state.highestModseq;
    this.#claimRecent(1);
    state.views.add(this);
  }

  get lastUid(): number {
    return this.count === 0 ? 0 : (this.uids[this.count - 1] as number);
  }

  get recentCount(): number {
    return this.#recent.reduce((count, [from, to]) => count + this.#countUids(from, to), 0);
  }

  /** Calls the listener when the state has changed, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }

  notify(change: FolderChange): void {
    if (this.#origin !== undefined && change.origin === this.#origin) this.#noteOwn(change);
    if (change.kind === 'flags' && !this.#changed?.modseqs.has(change.modseq))
      this.#otherModseq = change.modseq;
    for (const listener of this.#listeners) listener();
  }

  /** Changes that the client has made itself, and was not told of. */
  get own(): OwnChanges {
    this.#changed ??= { modseqs: new Set(), added: new Set(), removed: new Set() };
    return this.#changed;
  }

  /** Returns true for a message that the client itself has added, and was not told of. */
  isOwn(uid: number): boolean {
    return this.#changed?.added.has(uid) ?? false;
  }

  /** The client knows all messages. */
  forgetOwnAdded(): void {
    this.#changed?.added.clear();
  }

  /** The client knows all flags, or more changes than this number are kept. */
  forgetOwnFlags(maxChanges = 0): void {
    if ((this.#changed?.modseqs.size ?? 0) > maxChanges) this.#changed?.modseqs.clear();
  }

  #noteOwn(change: FolderChange): void {
    if (change.kind === 'added') for (const { uid } of change.messages) this.own.added.add(uid);
    if (change.kind === 'expunged') for (const { uid } of change.messages) this.own.removed.add(uid);
  }

  isRecent(uid: number): boolean {
    for (let index = this.#recent.length - 1; index >= 0; index--) {
      const [from, to] = this.#recent[index] as [number, number];
      if (from <= uid) return uid <= to;
    }
    return false;
  }

  /** Gives sequence numbers to messages that have arrived. Returns their number. */
  addNew(): number {
    const { state } = this;
    const firstUid = this.lastUid + 1;
    const before = this.count;
    const from = lowerBound(state.uids, state.count, firstUid);
    if (from === before && !state.hasGone) this.count = state.count;
    else
      for (let index = from; index < state.count; index++)
        if (!state.isGone(index)) this.#push(state.uids[index] as number);
    this.#share();
    if (this.count > before) this.#claimRecent(firstUid);
    return this.count - before;
  }

  /**
   * Takes the sequence numbers of removed messages away, and returns what they were, the last one first. `onlyOwn` leaves the messages
   * that others have removed, for a client that does not want to know of them.
   */
  removeGone({ onlyOwn }: { onlyOwn: boolean }): { number: number; uid: number }[] {
    const { state } = this;
    if (onlyOwn && !this.#changed?.removed.size) return [];
    const removed: { number: number; uid: number }[] = [];
    if (this.toldRemoval === state.lastRemoval) return removed;
    this.#own();
    let to = 0;
    let index = 0;
    for (let from = 0; from < this.count; from++) {
      const uid = this.uids[from] as number;
      while (index < state.count && (state.uids[index] as number) < uid) index++;
      const isGone = state.uids[index] !== uid || state.isGone(index);
      if (isGone && (!onlyOwn || this.#changed?.removed.has(uid))) removed.push({ number: from + 1, uid });
      else this.uids[to++] = uid;
    }
    this.count = to;
    this.#changed?.removed.clear();
    if (!onlyOwn) this.toldRemoval = state.lastRemoval;
    return removed.reverse();
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

  /** Returns the first `count` messages by sequence number that others have changed and of whose changes the client was not told. */
  untold(count: number): Entry[] {
    const { state } = this;
    const entries: Entry[] = [];
    if (this.#otherModseq <= this.toldModseq) return entries;
    for (let index = 0; index < state.count; index++) {
      const modseq = state.modseqs[index] as number;
      if (modseq <= this.toldModseq || this.#changed?.modseqs.has(modseq) || state.isGone(index)) continue;
      const uid = state.uids[index] as number;
      const number = indexOfUid(this.uids, count, uid) + 1;
      if (number > 0) entries.push(this.#entry(number, uid, index));
    }
    return entries;
  }

  /** Notes that the client was told of the flags of these messages. At the end of a FETCH, not all clients listen. */
  noteToldFlags(told: readonly Entry[]): void {
    if (!this.isFetching || told.length === 0) return;
    const missed = new Set(this.#missedFlags);
    for (const { uid } of told) {
      missed.delete(uid);
      missed.add(uid);
    }
    this.#missedFlags = new Set([...missed].slice(-MAX_MISSED_FLAGS));
  }

  /** Adds the messages whose flags the client may have missed to those of which it is told now, in order, and forgets the former. */
  withMissedFlags(told: Entry[]): Entry[] {
    if (!this.#missedFlags) return told;
    const uids = new Set([...told.map(({ uid }) => uid), ...this.#missedFlags]);
    this.#missedFlags = undefined;
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
      isRecent: this.#recent.length > 0 && this.isRecent(uid),
      isGone: (flags & GONE) !== 0,
    };
  }

  /**
   * Takes the list of the state when it is the same, because hundreds of sessions can have selected a large folder. A message that the
   * client knows stays in that list, so lists of the same length are the same.
   */
  #share(): void {
    if (this.count !== this.state.count) return;
    this.uids = this.state.uids;
    this.#isShared = true;
  }

  #own(): void {
    if (this.#isShared) this.uids = this.uids.slice(0, this.count);
    this.#isShared = false;
  }

  #push(uid: number): void {
    this.#own();
    if (this.count === this.uids.length) {
      const larger = new Uint32Array(2 * this.count + 16);
      larger.set(this.uids);
      this.uids = larger;
    }
    this.uids[this.count++] = uid;
  }

  /** Messages are recent for the first session that is told of them, and selects the folder to write. */
  #claimRecent(firstUid: number): void {
    const { state } = this;
    const from = Math.max(firstUid, state.recentFrom);
    if (from > this.lastUid) return;
    const last = this.#recent.at(-1);
    if (last?.[1] === firstUid - 1 && from === firstUid) last[1] = this.lastUid;
    else this.#recent.push([from, this.lastUid]);
    if (!this.isReadOnly) state.recentFrom = this.lastUid + 1;
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
