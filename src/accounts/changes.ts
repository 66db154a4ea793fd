/** Tells the sessions of an account what has changed in it. Every change is told after its commit, in the order of modseq. */
import type { MessageRow, PendingEditRow } from './tables.ts';

/** The changing facts of a message. */
export type MessageSummary = { uid: number; flags: number; keywordSetId: number; modseq: number };

/** A message that was added, with its content, which never changes. */
export type AddedMessage = MessageSummary & { contentId: number };

/** A change of the flags of all messages in a range of UIDs. Both ends belong to it. */
export type FlagEdit = Omit<PendingEditRow, 'folderId' | 'modseq'>;

export type FolderChange = { folderId: number; modseq: number } & ChangeOrigin &
  (
    | { kind: 'added'; messages: readonly AddedMessage[] }
    | { kind: 'flags'; edits: readonly FlagEdit[] }
    /** The messages as they were. */
    | { kind: 'expunged'; messages: readonly MessageRow[] }
    | { kind: 'created' | 'deleted'; name: string }
    /** `isBelow` is true for a folder whose name has changed because it is below another one. */
    | { kind: 'renamed'; from: string; to: string; isBelow: boolean }
  );

/** The session that has made a change, which does not receive it. Deliveries have none. */
type ChangeOrigin = { origin?: object };

/** A name was subscribed, or is no longer. */
export type SubscriptionChange = ChangeOrigin & { name: string };

/** Entries of metadata that were set or removed. */
export type MetadataChange = ChangeOrigin & {
  /** The folder of the entries; undefined for those of the server. */
  folderId: number | undefined;
  entries: readonly string[];
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
   * Calls the listener for every change of a folder, or of all folders, until the returned function is called. Listeners only note what
   * they have to do: they neither throw nor wait.
   */
  subscribe(subject: number | 'all', listener: Listener<FolderChange>): () => void;
  subscriptions: Topic<SubscriptionChange>;
  metadata: Topic<MetadataChange>;
};

/** Returns changes without listeners. */
export function createAccountChanges(): AccountChanges {
  const listeners = new Map<number | 'all', Set<Listener<FolderChange>>>();
  return {
    publish(change) {
      for (const subject of [change.folderId, 'all'] as const)
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
    subscriptions: createTopic(),
    metadata: createTopic(),
  };
}

/** Returns the changes as one session publishes them, which is not told of its own. */
export function changesBy(origin: object, changes: AccountChanges): AccountChanges {
  const { subscriptions, metadata } = changes;
  return {
    subscribe: changes.subscribe,
    publish: (change) => changes.publish({ ...change, origin }),
    subscriptions: { ...subscriptions, publish: (change) => subscriptions.publish({ ...change, origin }) },
    metadata: { ...metadata, publish: (change) => metadata.publish({ ...change, origin }) },
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
