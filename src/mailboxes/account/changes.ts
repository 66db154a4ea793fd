/** Tells the sessions of an account what has changed in it. Every change is told after its commit, in the order of modseq. */

/** The changing facts of a message. */
export type MessageSummary = { uid: number; flags: number; keywordSetId: number; modseq: number };

export type FolderChange = { folderId: number; modseq: number } & (
  | { kind: 'added' | 'flags'; messages: readonly MessageSummary[] }
  | { kind: 'expunged'; uids: readonly number[] }
  | { kind: 'created' | 'deleted' | 'renamed' }
);

type ChangeListener = (change: FolderChange) => void;

export type AccountChanges = {
  /** Tells a committed change. Whoever commits calls it as `onCommitted` of the database. */
  publish(change: FolderChange): void;
  /**
   * Calls the listener for every change of a folder, or for every folder that is created, deleted or renamed, until the returned
   * function is called. Listeners only note what they have to do: they neither throw nor wait.
   */
  subscribe(subject: number | 'folders', listener: ChangeListener): () => void;
};

/** Returns changes without listeners. */
export function createAccountChanges(): AccountChanges {
  const listeners = new Map<number | 'folders', Set<ChangeListener>>();
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
  };
}
