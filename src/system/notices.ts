/**
 * Wake-ups inside this process: "there may be work". A notice may be lost without harm, because every worker also looks
 * at the database on its own schedule.
 */

export type NoticeName =
  | 'queue'
  | 'suspects'
  | 'events'
  | 'webhooks'
  | 'blobs'
  | 'tenants'
  | 'audiences'
  | 'imports'
  | 'exports';

/** Names what there is work for. It spares the listener a search; undefined when the sender does not know. */
type Subjects = readonly string[] | undefined;

export type Notices = {
  /** The subjects of `queue` are lanes in which mail is due. */
  notify(name: NoticeName, subjects?: Subjects): void;
  /** Returns the function that stops listening. */
  listen(name: NoticeName, run: (subjects: Subjects) => void): () => void;
};

export function createNotices(): Notices {
  const listeners = new Map<NoticeName, Set<(subjects: Subjects) => void>>();
  return {
    notify(name, subjects) {
      for (const run of listeners.get(name) ?? []) run(subjects);
    },
    listen(name, run) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      set.add(run);
      return () => set.delete(run);
    },
  };
}
