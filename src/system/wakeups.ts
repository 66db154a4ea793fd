/**
 * Wake-ups within this process: "there may be work". A wake-up may be lost without harm, because every worker also
 * queries the database on its own schedule.
 */

/** Name that a feature gives to its work. A test compares the names that are sent with those that are awaited. */
export type WakeupName = string;

/**
 * Names the items of the work, so that the listener need not search for them. Undefined when the sender does not know
 * them.
 */
export type WakeupSubjects = readonly string[] | undefined;

export type Wakeups = {
  /** Wakes the listeners of this name. */
  notify(name: WakeupName, subjects?: WakeupSubjects): void;
  /** Calls `run` at each wake-up. Returns the function that ends this. */
  listen(name: WakeupName, run: (subjects: WakeupSubjects) => void): () => void;
};

/** Returns wake-ups without listeners. */
export function createWakeups(): Wakeups {
  const listeners = new Map<WakeupName, Set<(subjects: WakeupSubjects) => void>>();
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
