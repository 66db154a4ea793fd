/**
 * Lets the main thread watch the attempts that the delivery thread makes. The thread sends only what is watched, the events of one
 * turn of its event loop together, and a main thread that does not keep up loses its watches.
 */
import type { DeliveryTrace, TraceEvent, Traces, WatchedSite } from '../conversation/trace.ts';

/** Functions of the delivery thread. `watch` is a number that the main thread chooses. */
export type WatchCalls = {
  watch(input: { watch: number; site: WatchedSite }): Promise<void>;
  unwatch(input: { watch: number }): Promise<void>;
};

type Told = { watch: number; event: TraceEvent };

/** The function of the main thread that takes events. `dropped` has the watches that have ended because there were too many. */
export type TellCalls = {
  tell(input: { told: readonly Told[]; dropped: readonly number[] }): Promise<void>;
};

/** Maximum number of events that the main thread has not taken yet, of all watches together. */
const MAX_BEHIND = 2_000;

/** Returns the functions of the delivery thread, which sends the events of its trace. */
export function serveTraces(trace: Pick<DeliveryTrace, 'watch'>, host: TellCalls): WatchCalls {
  const ends = new Map<number, () => void>();
  let told: Told[] = [];
  let dropped: number[] = [];
  let behind = 0;

  function send(): void {
    const sent = { told, dropped };
    told = [];
    dropped = [];
    // A main thread that has ended takes nothing, and this thread ends with it.
    host
      .tell(sent)
      .catch(() => {})
      .finally(() => {
        behind -= sent.told.length;
      });
  }

  function later(): void {
    if (told.length + dropped.length === 0) setImmediate(send);
  }

  function unwatch(watch: number): void {
    ends.get(watch)?.();
    ends.delete(watch);
  }

  return {
    async watch({ watch, site }) {
      const end = trace.watch(site, (event) => {
        later();
        if (behind < MAX_BEHIND) {
          behind++;
          told.push({ watch, event });
        } else {
          dropped.push(watch);
          unwatch(watch);
        }
      });
      ends.set(watch, end);
    },
    unwatch: async ({ watch }) => unwatch(watch),
  };
}

type Watcher = { tell: (event: TraceEvent) => void; onDropped: () => void };

/** The traces as the main thread sees them. */
export class RemoteTraces implements Traces {
  readonly #calls: WatchCalls;
  readonly #watchers = new Map<number, Watcher>();
  #last = 0;

  constructor(calls: WatchCalls) {
    this.#calls = calls;
  }

  watch(site: WatchedSite, tell: Watcher['tell'], onDropped: Watcher['onDropped']): () => void {
    const watch = ++this.#last;
    this.#watchers.set(watch, { tell, onDropped });
    // While the thread stops, nothing is shown any more.
    this.#calls.watch({ watch, site }).catch(() => this.#drop(watch));
    return () => {
      if (this.#watchers.delete(watch)) this.#calls.unwatch({ watch }).catch(() => {});
    };
  }

  /** Takes events of the thread. A watch that has ended meanwhile is told nothing. */
  readonly take: TellCalls['tell'] = async ({ told, dropped }) => {
    for (const { watch, event } of told) this.#watchers.get(watch)?.tell(event);
    for (const watch of dropped) this.#drop(watch);
  };

  #drop(watch: number): void {
    const watcher = this.#watchers.get(watch);
    this.#watchers.delete(watch);
    watcher?.onDropped();
  }
}
