/**
 * The loop that runs all background work. It leases due rows, runs them, and each run settles its own row. It sleeps
 * until the next row is due, a run ends or a wake-up arrives. A lease that expires turns a crash into a delay, never
 * into a loss.
 */
import { type Clock, realClock, sleep, type Timer } from './clock.ts';
import type { System } from './system.ts';
import type { WakeupName, WakeupSubjects } from './wakeups.ts';

/** The answer of one lease. */
export type Leased<Item> = {
  items: readonly Item[];
  /**
   * Time at which the next item may fall due, in Unix milliseconds. A time that has passed asks for another lease at
   * once. Undefined when only a wake-up, or the end of a run, can bring more.
   */
  nextDueAt: number | undefined;
};

export type Work<Item> = {
  /** Names the work in logs. */
  name: string;
  /** Names of the wake-ups after which it leases again, none unless they are given. */
  wakeOn?: readonly WakeupName[];
  /** Returns false for a wake-up whose subjects are the work of others. Every wake-up concerns a work without it. */
  concerns?(subjects: WakeupSubjects): boolean;
  /** Maximum number of items that run at the same time, 1 unless it is given. */
  concurrency?: number;
  /**
   * Minimum time from one lease to the next, in milliseconds, so that what falls due meanwhile is leased together; 0 unless it is given.
   * It is real time, whatever clock the system has, because it saves work and decides nothing.
   */
  leaseIntervalMs?: number;
  /**
   * Claims up to `limit` due items, so that no other worker runs them during the lease, and says when to lease again.
   */
  lease(limit: number): Promise<Leased<Item>>;
  /** Runs and settles one item. A throw is a bug: it is logged, and the item's lease runs out. */
  run(item: Item): Promise<void>;
};

export type RunningWork = {
  /** Leases nothing more and waits until running items have settled, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** Maximum sleep: without a wake-up each worker checks for due rows this often. */
const MAX_SLEEP_MS = 30_000;
/** Minimum sleep after a lease without items: a work whose due item cannot be leased does not keep the loop busy. */
const MIN_IDLE_SLEEP_MS = 1;
const PAUSE_AFTER_ERROR_MS = 1_000;

/** Starts a worker for this kind of work. */
export function startWork<Item>(
  system: Pick<System, 'clock' | 'log' | 'wakeups'>,
  work: Work<Item>,
): RunningWork {
  const worker = new Worker(system, work);
  worker.start();
  return worker;
}

type PeriodicWork = { name: string; periodMs: number; run: () => Promise<void> };

/**
 * Returns housekeeping as work: it is due at start and then every `periodMs`, even when the wall clock is set
 * meanwhile.
 */
export function periodic(clock: Clock, { name, periodMs, run }: PeriodicWork): Work<'run'> {
  /** Time of the next run on the monotonic clock, in milliseconds. */
  let dueAt = clock.elapsed();
  return {
    name,
    async lease() {
      const isDue = clock.elapsed() >= dueAt;
      if (isDue) dueAt = clock.elapsed() + periodMs;
      return { items: isDue ? ['run'] : [], nextDueAt: clock.now() + dueAt - clock.elapsed() };
    },
    run,
  };
}

/** Returns housekeeping that also runs soon after a wake-up of one of these names, but not twice within `minIntervalMs`. */
export function periodicOrWoken(
  { clock, wakeups }: Pick<System, 'clock' | 'wakeups'>,
  {
    wakeOn,
    minIntervalMs,
    ...options
  }: PeriodicWork & { wakeOn: readonly WakeupName[]; minIntervalMs: number },
): Work<'run'> {
  let isWoken = false;
  for (const name of wakeOn) {
    wakeups.listen(name, () => {
      isWoken = true;
    });
  }
  const work = periodic(clock, options);
  return {
    ...work,
    wakeOn,
    leaseIntervalMs: minIntervalMs,
    async lease(limit) {
      const leased = await work.lease(limit);
      const items = isWoken ? (['run'] as const) : leased.items;
      isWoken = false;
      return { ...leased, items };
    },
  };
}

class Worker<Item> implements RunningWork {
  readonly #system: Pick<System, 'clock' | 'log' | 'wakeups'>;
  readonly #work: Work<Item>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopListening: (() => void)[];
  readonly #stop = new AbortController();
  #woken = false;
  #wake: () => void = () => {};
  #loop: Promise<void> = Promise.resolve();

  constructor(system: Pick<System, 'clock' | 'log' | 'wakeups'>, work: Work<Item>) {
    this.#system = system;
    this.#work = work;
    this.#stopListening = (work.wakeOn ?? []).map((name) =>
      system.wakeups.listen(name, (subjects) => {
        if (work.concerns?.(subjects) ?? true) this.#wakeUp();
      }),
    );
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    for (const stopListening of this.#stopListening) stopListening();
    this.#wakeUp();
    await this.#loop;
    await Promise.race([Promise.all(this.#running), sleep(this.#system.clock, graceMs)]);
  }

  async #run(): Promise<void> {
    const { leaseIntervalMs = 0 } = this.#work;
    while (!this.#stop.signal.aborted) {
      this.#woken = false;
      const leasedAt = realClock.elapsed();
      const sleepMs = await this.#leaseAndRun();
      if (!this.#woken && sleepMs > 0) await this.#sleep(sleepMs);
      const earlyMs = leasedAt + leaseIntervalMs - realClock.elapsed();
      if (earlyMs > 0) await sleep(realClock, earlyMs, this.#stop.signal);
    }
  }

  /**
   * Starts due items. Returns the time until the next lease, in milliseconds; a finished item or a wake-up shortens
   * it.
   */
  async #leaseAndRun(): Promise<number> {
    const free = (this.#work.concurrency ?? 1) - this.#running.size;
    if (free <= 0) return MAX_SLEEP_MS;
    try {
      const { items, nextDueAt } = await this.#work.lease(free);
      for (const item of items) this.#launch(item);
      if (nextDueAt === undefined) return MAX_SLEEP_MS;
      const minSleepMs = items.length > 0 ? 0 : MIN_IDLE_SLEEP_MS;
      return Math.min(Math.max(nextDueAt - this.#system.clock.now(), minSleepMs), MAX_SLEEP_MS);
    } catch (error) {
      this.#system.log.error({ work: this.#work.name, err: error }, 'work could not be leased');
      await this.#pauseAfterError();
      return 0;
    }
  }

  /**
   * Pauses after an error. Wake-ups do not shorten the pause: otherwise a full disk under load would be queried, and
   * logged, thousands of times a second.
   */
  async #pauseAfterError(): Promise<void> {
    await sleep(this.#system.clock, PAUSE_AFTER_ERROR_MS, this.#stop.signal);
  }

  #launch(item: Item): void {
    const done = this.#runLogged(item).finally(() => {
      this.#running.delete(done);
      this.#wakeUp();
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

  #wakeUp(): void {
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
