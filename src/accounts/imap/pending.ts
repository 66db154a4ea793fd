/** Changes that a session stores for its next reports: those of its own client, and those that the client may have missed. */
import type { FolderChange } from '../changes.ts';

/**
 * Maximum number of messages whose flags are reported again. Whoever has changed more at once while a client fetched is seldom another
 * person, and clients compare all flags from time to time.
 */
const MAX_MISSED_FLAGS = 1_000;

/** Changes that a client has made itself. */
type OwnChanges = {
  /** Numbers of changes of flags. */
  modseqs: Set<number>;
  /** UIDs of messages that were added. */
  added: Set<number>;
  /** UIDs of messages that were removed, which are reported whatever else the client wants to know. */
  removed: Set<number>;
};

export class Pending {
  /** The client has just asked for modseqs for the first time, and the highest one is to be reported (RFC 7162 section 3.1). */
  owesHighestModseq = false;
  /** The command that runs is a FETCH. */
  isFetching = false;
  /** New messages were reported at the end of a FETCH, where not all clients listen. */
  mayHaveMissedExists = false;
  /** The client itself has deleted the folder. */
  isDeletedHere = false;
  /** Number of the last change of flags that the client has not made itself. */
  otherModseq = 0;
  /** Own changes of the client. Most sessions only read, and have none. */
  #own: OwnChanges | undefined;
  /** UIDs of messages whose flags were reported at the end of a FETCH. */
  #missedFlags: Set<number> | undefined;

  /** Notes a change of the folder. */
  note(change: FolderChange, { isOwn }: { isOwn: boolean }): void {
    if (isOwn && change.kind === 'added') for (const { uid } of change.messages) this.own.added.add(uid);
    if (isOwn && change.kind === 'expunged') for (const { uid } of change.messages) this.own.removed.add(uid);
    if (change.kind === 'flags' && !this.isOwnChange(change.modseq)) this.otherModseq = change.modseq;
  }

  /** Changes that the client has made itself, and that were not reported. */
  get own(): OwnChanges {
    this.#own ??= { modseqs: new Set(), added: new Set(), removed: new Set() };
    return this.#own;
  }

  isOwnChange(modseq: number): boolean {
    return this.#own?.modseqs.has(modseq) ?? false;
  }

  /** Returns true for a message that the client itself has added, and that was not reported. */
  isOwn(uid: number): boolean {
    return this.#own?.added.has(uid) ?? false;
  }

  /** UIDs of messages that the client itself has removed, and that were not reported. */
  get ownRemoved(): ReadonlySet<number> | undefined {
    return this.#own?.removed;
  }

  /** All messages are reported. */
  forgetOwnAdded(): void {
    this.#own?.added.clear();
  }

  forgetOwnRemoved(): void {
    this.#own?.removed.clear();
  }

  /** All flags are reported, or more changes than this number are kept. */
  forgetOwnFlags(maxChanges = 0): void {
    if ((this.#own?.modseqs.size ?? 0) > maxChanges) this.#own?.modseqs.clear();
  }

  /** Notes that the flags of these messages are reported. At the end of a FETCH, not all clients listen. */
  noteReportedFlags(reported: readonly { uid: number }[]): void {
    if (!this.isFetching || reported.length === 0) return;
    const missed = new Set(this.#missedFlags);
    for (const { uid } of reported) {
      missed.delete(uid);
      missed.add(uid);
    }
    this.#missedFlags = new Set([...missed].slice(-MAX_MISSED_FLAGS));
  }

  /** Returns the UIDs of the messages whose flags the client may have missed, and forgets them. */
  takeMissedFlags(): Iterable<number> | undefined {
    const missed = this.#missedFlags;
    this.#missedFlags = undefined;
    return missed;
  }
}
