/**
 * The one loop of background work. A row falls due, is leased, is run and settles its own row; the worker sleeps until
 * the next row is due or a notice wakes it. A lease that expires makes a crash a delay, never a loss.
 */
import { type Clock, sleep, type Timer } from './clock.ts';
import type { System } from './system.ts';
import type { WakeupName } from './wakeups.ts';

export type Work<Item> = {
  /** Names the work in logs. */
  name: string;
  wakeOn: readonly WakeupName[];
  /** Items run at the same time. */
  concurrency: number;
  /** Takes up to `limit` due items, so that nobody else runs them for the lease's time. */
  lease(limit: number): Promise<Item[]>;
  /** Runs and settles one item. A throw is a bug: it is logged, and the item's lease runs out. */
  run(item: Item): Promise<void>;
  /** When the next item falls due, in epoch milliseconds. */
  nextDueAt(): Promise<number | undefined>;
};

export type RunningWork = {
  /** Leases nothing more and waits until what runs has settled, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** Even without a notice each worker looks for due rows this often. */
const MAX_SLEEP_MS = 30_000;
const PAUSE_AFTER_ERROR_MS = 1_000;

export function startWork<Item>(
  system: Pick<System, 'clock' | 'log' | 'wakeups'>,
  work: Work<Item>,
): RunningWork {
  const worker = new Worker(system, work);
  worker.start();
  return worker;
}

/** Housekeeping as work: due at start and then every `periodMs`, however the wall clock is set meanwhile. */
export function periodic(
  clock: Clock,
  { name, periodMs, run }: { name: string; periodMs: number; run: () => Promise<void> },
): Work<'run'> {
  /** On the monotonic clock. */
  let dueAt = clock.elapsed();
  return {
    name,
    wakeOn: [],
    concurrency: 1,
    async lease() {
      if (clock.elapsed() < dueAt) return [];
      dueAt = clock.elapsed() + periodMs;
      return ['run'];
    },
    run,
    nextDueAt: async () => clock.now() + dueAt - clock.elapsed(),
  };
}

class Worker<Item> implements RunningWork {
  readonly #system: Pick<System, 'clock' | 'log' | 'wakeups'>;
  readonly #work: Work<Item>;
  readonly #running = new Set<Promise<void>>();
  readonly #silence: (() => void)[];
  readonly #stop = new AbortController();
  #woken = false;
  #wake: () => void = () => {};
  #loop: Promise<void> = Promise.resolve();

  constructor(system: Pick<System, 'clock' | 'log' | 'wakeups'>, work: Work<Item>) {
    this.#system = system;
    this.#work = work;
    this.#silence = work.wakeOn.map((name) => system.wakeups.listen(name, () => this.#rouse()));
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    for (const silence of this.#silence) silence();
    this.#rouse();
    await this.#loop;
    await Promise.race([Promise.all(this.#running), sleep(this.#system.clock, graceMs)]);
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#woken = false;
      const sleepMs = await this.#leaseAndRun();
      if (!this.#woken && sleepMs > 0) await this.#sleep(sleepMs);
    }
  }

  /** Starts what is due and answers how long nothing more needs to be done (a finished item or a notice wakes earlier). */
  async #leaseAndRun(): Promise<number> {
    const free = this.#work.concurrency - this.#running.size;
    if (free <= 0) return MAX_SLEEP_MS;
    try {
      const items = await this.#work.lease(free);
      for (const item of items) this.#launch(item);
      if (items.length > 0) return 0;
      const dueAt = await this.#work.nextDueAt();
      if (dueAt === undefined) return MAX_SLEEP_MS;
      return Math.min(Math.max(dueAt - this.#system.clock.now(), 1), MAX_SLEEP_MS);
    } catch (error) {
      this.#system.log.error({ work: this.#work.name, err: error }, 'work could not be leased');
      await this.#pauseAfterError();
      return 0;
    }
  }

  /** No notice shortens it, or a full disk under load would be asked, and logged, thousands of times a second. */
  async #pauseAfterError(): Promise<void> {
    await sleep(this.#system.clock, PAUSE_AFTER_ERROR_MS, this.#stop.signal);
  }

  #launch(item: Item): void {
    const done = this.#runLogged(item).finally(() => {
      this.#running.delete(done);
      this.#rouse();
    });
    this.#running.add(done);
  }

  async #runLogged(item: Item): Promise<void> {
    try {
      await this.#work.run(item);
    } catch (error) {
      this.#system.log.error({ work: this.#work.name, err: error }, 'work failed');
    }
  }

  #rouse(): void {
    this.#woken = true;
    this.#wake();
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer: Timer = this.#system.clock.after(delayMs, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
