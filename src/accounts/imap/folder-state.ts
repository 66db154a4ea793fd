/**
 * Keeps the changing facts of the messages of a folder in memory, with the ids of their contents. All sessions that have selected the
 * folder share it. Messages are in the order of their UIDs. A message that was removed stays until every session has told its client.
 */

import type { ForeseenChange } from '../change-flags.ts';
import type { AddedMessage, FlagEdit, FolderChange, MessageSummary } from '../changes.ts';
import { DELETED, SEEN } from '../flags.ts';
import type { FolderRow, MessageRow } from '../tables.ts';
import { indexOfUid, lowerBound } from './sorted-uids.ts';

/** Bit of a message that was removed, beside those of flags.ts. */
export const GONE = 0x80;

/** Number of messages that a new state has memory for. */
const FIRST_CAPACITY = 64;

/** A removed message that clients may still read. */
type Removed = {
  /** Number of the removal, by which views know what they have reported. */
  removal: number;
  /** The row that the message had; undefined when it can no longer be read. */
  message: MessageRow | undefined;
};

/** Session that has selected the folder, as far as the state needs to know it. */
type StateView = {
  /** Number of the last removal that was reported to the client. */
  readonly reported: { readonly removal: number };
  /** The state has changed. */
  notify(change: FolderChange): void;
};

export class FolderState {
  readonly folderId: number;
  readonly uidValidity: number;
  count = 0;
  uids = new Uint32Array(FIRST_CAPACITY);
  contentIds = new Float64Array(FIRST_CAPACITY);
  flags = new Uint8Array(FIRST_CAPACITY);
  keywordSetIds = new Uint32Array(FIRST_CAPACITY);
  modseqs = new Float64Array(FIRST_CAPACITY);
  uidNext: number;
  highestModseq: number;
  /** First UID that no session has seen as `\Recent`. */
  recentFrom: number;
  /** The value of `recentFrom` on disk. */
  storedRecentFrom: number;
  isDeleted = false;
  /** Number of the last removal. */
  lastRemoval = 0;
  readonly views = new Set<StateView>();
  /** Sets of keywords that messages have had since the folder was loaded. */
  readonly keywordSets = new Set<number>();
  readonly #removed = new Map<number, Removed>();
  /** Index before which every message has `\Seen` or was removed. */
  #seenTo = 0;

  constructor({ id, uidValidity, uidNext, highestModseq, recentFrom }: FolderRow) {
    this.folderId = id;
    this.uidValidity = uidValidity;
    this.uidNext = uidNext;
    this.highestModseq = highestModseq;
    this.recentFrom = recentFrom;
    this.storedRecentFrom = recentFrom;
  }

  get lastUid(): number {
    return this.count === 0 ? 0 : (this.uids[this.count - 1] as number);
  }

  /** Returns the index of a message; -1 when there is none with this UID. */
  indexOf(uid: number): number {
    return indexOfUid(this.uids, this.count, uid);
  }

  /** Returns the number of messages in a range of UIDs, those that were removed included. */
  countBetween(uidFrom: number, uidTo: number): number {
    return lowerBound(this.uids, this.count, uidTo + 1) - lowerBound(this.uids, this.count, uidFrom);
  }

  isGone(index: number): boolean {
    return ((this.flags[index] as number) & GONE) !== 0;
  }

  /** True while there are messages that were removed. */
  get hasGone(): boolean {
    return this.#removed.size > 0;
  }

  /** Returns true for the UID of a message that the folder no longer has. */
  isRemoved(uid: number): boolean {
    const index = this.indexOf(uid);
    return index < 0 || this.isGone(index);
  }

  /** Returns the row of a message that was removed, while a client may still read it. */
  removedMessage(uid: number): MessageRow | undefined {
    return this.#removed.get(uid)?.message;
  }

  /** Returns the UID of the first message without `\Seen`; undefined when there is none. */
  findFirstUnseen(): number | undefined {
    const { flags, count } = this;
    let index = this.#seenTo;
    while (index < count && ((flags[index] as number) & (SEEN | GONE)) !== 0) index++;
    this.#seenTo = index;
    return index < count ? this.uids[index] : undefined;
  }

  /** Returns the UIDs of the messages that the folder has: `uids` itself, which then goes on, or a list without those that were removed. */
  presentUids(): Uint32Array<ArrayBuffer> {
    if (!this.hasGone) return this.uids;
    return this.uids.subarray(0, this.count).filter((_, index) => !this.isGone(index));
  }

  /** Returns what edits would do to the messages as they are now. */
  foresee(edits: readonly FlagEdit[]): ForeseenChange {
    const { highestModseq } = this;
    const foreseen: ForeseenChange = { highestModseq, hasEffect: false, unseen: 0, deleted: 0, modified: [] };
    for (const edit of edits) this.#foreseeEdit(edit, foreseen);
    return foreseen;
  }

  /** Adds messages that were loaded. Their UIDs are higher than all others. */
  load(messages: readonly AddedMessage[]): void {
    for (const message of messages) this.#add(message);
  }

  /**
   * Applies a committed change, and tells the views. A change that was loaded already changes nothing. The rows of removed messages are
   * kept, so that sessions can read them until they know of the removal.
   */
  apply(change: FolderChange): void {
    if (change.kind === 'added') for (const message of change.messages) this.#add(message);
    if (change.kind === 'flags') for (const edit of change.edits) this.#edit(edit, change.modseq);
    if (change.kind === 'expunged') this.#remove(change.messages);
    if (change.kind === 'deleted') this.#delete();
    if (change.kind !== 'renamed') this.highestModseq = Math.max(this.highestModseq, change.modseq);
    for (const view of this.views) view.notify(change);
  }

  /**
   * Forgets the removed messages that all clients were told of.
   * @returns ids of contents that no session reads for them any more
   */
  forgetRemoved(): number[] {
    const lastReported = Math.min(
      this.lastRemoval,
      ...[...this.views].map(({ reported }) => reported.removal),
    );
    const forgotten = new Set<number>();
    const contentIds: number[] = [];
    for (const [uid, { removal, message }] of this.#removed) {
      if (removal > lastReported) continue;
      forgotten.add(uid);
      this.#removed.delete(uid);
      if (message) contentIds.push(message.contentId);
    }
    if (forgotten.size > 0) this.#compact(forgotten);
    return contentIds;
  }

  #add({ uid, contentId, flags, keywordSetId, modseq }: AddedMessage): void {
    if (uid <= this.lastUid) {
      this.#update({ uid, flags, keywordSetId, modseq });
      return;
    }
    if (this.count === this.uids.length) this.#grow();
    this.uids[this.count] = uid;
    this.contentIds[this.count] = contentId;
    this.flags[this.count] = flags;
    this.keywordSetIds[this.count] = keywordSetId;
    this.modseqs[this.count] = modseq;
    this.keywordSets.add(keywordSetId);
    this.count++;
    this.uidNext = Math.max(this.uidNext, uid + 1);
  }

  #update({ uid, flags, keywordSetId, modseq }: MessageSummary): void {
    const index = this.indexOf(uid);
    if (index < 0 || this.isGone(index) || (this.modseqs[index] as number) >= modseq) return;
    this.flags[index] = flags;
    this.keywordSetIds[index] = keywordSetId;
    this.modseqs[index] = modseq;
    this.keywordSets.add(keywordSetId);
    this.#seenTo = Math.min(this.#seenTo, index);
  }

  /** Edits flags as the database has edited them (message-store.ts). A message that was loaded after a later change is newer, and stays. */
  #edit(edit: FlagEdit, modseq: number): void {
    const { flags, modseqs, keywordSetIds } = this;
    const { keptFlags, addedFlags, keywordSetId } = edit;
    const unchangedSince = Math.min(edit.unchangedSince ?? modseq, modseq - 1);
    const start = lowerBound(this.uids, this.count, edit.uidFrom);
    const end = lowerBound(this.uids, this.count, edit.uidTo + 1);
    if (keywordSetId !== null) this.keywordSets.add(keywordSetId);
    if (((keptFlags | addedFlags) & SEEN) === 0) this.#seenTo = Math.min(this.#seenTo, start);
    for (let index = start; index < end; index++) {
      const before = flags[index] as number;
      if ((before & GONE) !== 0 || (modseqs[index] as number) > unchangedSince) continue;
      const after = (before & keptFlags) | addedFlags;
      if (keywordSetId !== null && keywordSetId !== keywordSetIds[index]) keywordSetIds[index] = keywordSetId;
      else if (after === before) continue;
      flags[index] = after;
      modseqs[index] = modseq;
    }
  }

  #foreseeEdit(edit: FlagEdit, foreseen: ForeseenChange): void {
    const { uids, flags, modseqs, keywordSetIds, count } = this;
    const { keptFlags, addedFlags, keywordSetId } = edit;
    const unchangedSince = edit.unchangedSince ?? Number.POSITIVE_INFINITY;
    const end = lowerBound(uids, count, edit.uidTo + 1);
    for (let index = lowerBound(uids, count, edit.uidFrom); index < end; index++) {
      const before = flags[index] as number;
      if ((before & GONE) !== 0) continue;
      if ((modseqs[index] as number) > unchangedSince) {
        foreseen.modified.push(uids[index] as number);
        continue;
      }
      const after = (before & keptFlags) | addedFlags;
      if (after !== before || (keywordSetId !== null && keywordSetId !== keywordSetIds[index]))
        foreseen.hasEffect = true;
      const changed = after ^ before;
      if ((changed & SEEN) !== 0) foreseen.unseen += (before & SEEN) === 0 ? -1 : 1;
      if ((changed & DELETED) !== 0) foreseen.deleted += (before & DELETED) === 0 ? 1 : -1;
    }
  }

  #remove(messages: readonly MessageRow[]): void {
    const removal = ++this.lastRemoval;
    for (const message of messages) {
      const index = this.indexOf(message.uid);
      if (index < 0) continue;
      this.flags[index] = (this.flags[index] as number) | GONE;
      this.#removed.set(message.uid, { removal, message: this.views.size > 0 ? message : undefined });
    }
  }

  #delete(): void {
    this.isDeleted = true;
    this.lastRemoval++;
    for (let index = 0; index < this.count; index++) {
      this.flags[index] = (this.flags[index] as number) | GONE;
      this.#removed.set(this.uids[index] as number, { removal: this.lastRemoval, message: undefined });
    }
  }

  /** All clients were told of the messages, so no view shares the list of UIDs at this moment. */
  #compact(forgotten: ReadonlySet<number>): void {
    let to = 0;
    for (let from = 0; from < this.count; from++) {
      const uid = this.uids[from] as number;
      if (forgotten.has(uid)) continue;
      this.uids[to] = uid;
      this.contentIds[to] = this.contentIds[from] as number;
      this.flags[to] = this.flags[from] as number;
      this.keywordSetIds[to] = this.keywordSetIds[from] as number;
      this.modseqs[to] = this.modseqs[from] as number;
      to++;
    }
    this.count = to;
    this.#seenTo = 0;
  }

  #grow(): void {
    const capacity = 2 * this.uids.length;
    const grow = <List extends Uint32Array | Uint8Array | Float64Array>(list: List, next: List): List => {
      next.set(list);
      return next;
    };
    this.uids = grow(this.uids, new Uint32Array(capacity));
    this.contentIds = grow(this.contentIds, new Float64Array(capacity));
    this.flags = grow(this.flags, new Uint8Array(capacity));
    this.keywordSetIds = grow(this.keywordSetIds, new Uint32Array(capacity));
    this.modseqs = grow(this.modseqs, new Float64Array(capacity));
  }
}
