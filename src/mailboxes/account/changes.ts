/** Tells the sessions of an account what has changed in it. Every change is told after its commit, in the order of modseq. */
import type { MessageRow } from './tables.ts';

/** The changing facts of a message. */
export type MessageSummary = { uid: number; flags: number; keywordSetId: number; modseq: number };

/** A message that was added, with the content that it has for good. */
export type AddedMessage = MessageSummary & { contentId: number };

/** A change of the flags of all messages in a range of UIDs. Both ends belong to it. */
export type FlagEdit = {
  uidFrom: number;
  uidTo: number;
  /** Bits of system flags that stay, and bits that are added. */
  keptFlags: number;
  addedFlags: number;
  /** Set of keywords that all messages get; null when each keeps its own. */
  keywordSetId: number | null;
  /** Messages that were changed after this modseq are left alone; null when there are no such messages. */
  unchangedSince: number | null;
};

export type FolderChange = { folderId: number; modseq: number } & (
  | { kind: 'added'; messages: readonly AddedMessage[] }
  | { kind: 'flags'; edits: readonly FlagEdit[] }
  /** The messages as they were. */
  | { kind: 'expunged'; messages: readonly MessageRow[] }
  | { kind: 'created' | 'deleted' | 'renamed' }
);

/** Entries of metadata that were set or removed. */
export type MetadataChange = {
  /** The folder of the entries; undefined for those of the server. */
  folderId: number | undefined;
  entries: readonly string[];
  /** The session that has made the change, which is not told of it. */
  origin: object;
};

type Listener<Change> = (change: Change) => void;

/** Changes of one kind. */
type Topic<Change> = {
  publish(change: Change): void;
  /** Calls the listener until the returned function is called. */
  subscribe(listener: Listener<Change>): () => void;
};

export type AccountChanges = {
  /** Tells a committed change. Whoever commits calls it as `onCommitted` of the database. */
  publish(change: FolderChange): void;
  /**
   * Calls the listener for every change of a folder, or for every folder that is created, deleted or renamed, until the returned
   * function is called. Listeners only note what they have to do: they neither throw nor wait.
   */
  subscribe(subject: number | 'folders', listener: Listener<FolderChange>): () => void;
  metadata: Topic<MetadataChange>;
};

/** Returns changes without listeners. */
export function createAccountChanges(): AccountChanges {
  const listeners = new Map<number | 'folders', Set<Listener<FolderChange>>>();
  return {
    publish(change) {
      const isOfFolder = change.kind === 'created' || change.kind === 'deleted' || change.kind === 'renamed';
      const subjects = isOfFolder ? ([change.folderId, 'folders'] as const) : [change.folderId];
      for (const subject of subjects)
        for (const listener of [...(listeners.get(subject) ?? [])]) listener(change);
    },
    subscribe(subject, listener) {
      const others = listeners.get(subject) ?? new Set();
      listeners.set(subject, others.add(listener));
      return () => {
        others.delete(listener);
        if (others.size === 0 && listeners.get(subject) === others) listeners.delete(subject);
      };
    },
    metadata: createTopic(),
  };
}

function createTopic<Change>(): Topic<Change> {
  const listeners = new Set<Listener<Change>>();
  return {
    publish(change) {
      for (const listener of [...listeners]) listener(change);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
