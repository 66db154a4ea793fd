/**
 * Wake-ups inside this process: "there may be work". A wake-up may be lost without harm, because every worker also looks
 * at the database on its own schedule.
 */

export type WakeupName =
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

export type Wakeups = {
  /** The subjects of `queue` are the keys of delivery queues in which mail is due. */
  notify(name: WakeupName, subjects?: Subjects): void;
  /** Returns the function that stops listening. */
  listen(name: WakeupName, run: (subjects: Subjects) => void): () => void;
};

export function createWakeups(): Wakeups {
  const listeners = new Map<WakeupName, Set<(subjects: Subjects) => void>>();
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
