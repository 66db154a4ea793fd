/**
 * Wake-ups inside this process: "there may be work". A notice carries no data and may be lost without harm,
 * because every worker also looks at the database on its own schedule.
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

export type Notices = {
  notify(name: NoticeName): void;
  /** Returns the function that stops listening. */
  listen(name: NoticeName, run: () => void): () => void;
};

export function createNotices(): Notices {
  const listeners = new Map<NoticeName, Set<() => void>>();
  return {
    notify(name) {
      for (const run of listeners.get(name) ?? []) run();
    },
    listen(name, run) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      set.add(run);
      return () => set.delete(run);
    },
  };
}
