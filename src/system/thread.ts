/**
 * Runs a part of the daemon in a thread of its own, so that its work does not delay the main thread and its memory is
 * bounded. The thread has a `System` of its own. Log lines, metrics, wake-ups and calls cross as messages
 * (thread/messages.ts). A thread that dies or no longer answers is started again, or ends the daemon.
 */
import type { Transferable } from 'node:worker_threads';
import type { Timer } from './clock.ts';
import { type MetricSnapshot, sumCounters } from './metrics.ts';
import type { Calls, Part, ThreadOptions, ThreadSystem } from './thread/part.ts';
import { Run, startsAgain } from './thread/run.ts';

export type PartThread<Functions extends Calls> = Part<Functions> & {
  /** Resolves, with the reason, only if the thread's death ends the daemon, or if the thread could not be ended. */
  readonly failed: Promise<Error>;
  /** False while the thread waits to be started again. */
  readonly isRunning: boolean;
};

type CallArguments = [input: unknown, transfer?: readonly Transferable[]];

/** Delay before the first restart, in milliseconds. It doubles with each death that follows soon. */
const MIN_RESTART_DELAY_MS = 1_000;
const MAX_RESTART_DELAY_MS = 60_000;
/** Time after which a thread counts as healthy, so that its next death begins with the shortest delay again. */
const HEALTHY_AFTER_MS = 600_000;

export type LazyThread<Functions extends Calls> = PartThread<Functions> & {
  /**
   * Starts the thread, once. It resolves when the part runs.
   * @throws the error for which the thread could not start; it is started again after a while
   */
  start(): Promise<void>;
};

/**
 * Returns a part whose thread starts at the first of these calls, or at `start`: a thread takes 20 MB and more. It counts as
 * running until then.
 */
export function createLazyThread<Functions extends Calls>(
  system: ThreadSystem,
  options: ThreadOptions,
  calls: readonly (keyof Functions & string)[],
): LazyThread<Functions> {
  const supervisor = new Supervisor(system, options);
  let starting: Promise<void> | undefined;
  const start = () => (starting ??= supervisor.startAtLast());
  const call = async (name: string, ...args: CallArguments) => {
    await start().catch(() => {});
    return supervisor.call(name, ...args);
  };
  const functions = calls.map((name) => [name, (...args: CallArguments) => call(name, ...args)]);
  return {
    calls: Object.fromEntries(functions) as Functions,
    failed: supervisor.failed,
    get isRunning() {
      return supervisor.isRunning || !supervisor.isRestarting;
    },
    start,
    stop: (graceMs) => supervisor.stop(graceMs),
  };
}

/**
 * Starts a part in a thread. It resolves when the part runs.
 * @throws the error for which the thread could not start
 */
export async function startThread<Functions extends Calls>(
  system: ThreadSystem,
  options: ThreadOptions,
): Promise<PartThread<Functions>> {
  const supervisor = new Supervisor(system, options);
  const names = await supervisor.start();
  const calls = names.map((name) => [name, (...args: CallArguments) => supervisor.call(name, ...args)]);
  return {
    // The thread has listed the functions of the part that it runs.
    calls: Object.fromEntries(calls) as Functions,
    failed: supervisor.failed,
    get isRunning() {
      return supervisor.isRunning;
    },
    stop: (graceMs) => supervisor.stop(graceMs),
  };
}

/** Returns a part that runs in the calling thread, in the form of one that has a thread of its own. */
export function inThisThread<Functions extends Calls>(part: Part<Functions>): LazyThread<Functions> {
  return { ...part, isRunning: true, failed: new Promise(() => {}), start: async () => {} };
}

/** Returns a part that starts in the calling thread at the first of these calls, or at `start`. */
export function inThisThreadLater<Functions extends Calls>(
  open: () => Promise<Part<Functions>>,
  calls: readonly (keyof Functions & string)[],
): LazyThread<Functions> {
  let opening: Promise<Part<Functions>> | undefined;
  const start = () => (opening ??= open());
  const call = async (name: keyof Functions, input: unknown) => (await start()).calls[name]?.(input as never);
  const functions = calls.map((name) => [name, (input: unknown) => call(name, input)]);
  return {
    calls: Object.fromEntries(functions) as Functions,
    failed: new Promise(() => {}),
    isRunning: true,
    start: async () => void (await start()),
    stop: async (graceMs) => (await opening?.catch(() => undefined))?.stop(graceMs),
  };
}

/** Returns the URL of a module beside the one with the address `from`. It has the same extension, compiled or not. */
export function moduleBeside(from: string, name: string): URL {
  return new URL(`./${name}${from.slice(from.lastIndexOf('.'))}`, from);
}

/** Starts a thread, watches it, and starts it again. */
class Supervisor {
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #system: ThreadSystem;
  readonly #options: ThreadOptions;
  #run: Run | undefined;
  /** True from the moment that the part of `#run` runs. */
  isRunning = false;
  /** True from a death, or a failed start of a lazy thread, until the thread runs again. */
  isRestarting = false;
  #restart: Timer | undefined;
  #deathsInARow = 0;
  #isStopping = false;
  /** Counters and histograms of the runs that have ended. */
  #ended: MetricSnapshot = [];

  constructor(system: ThreadSystem, options: ThreadOptions) {
    this.#system = system;
    this.#options = options;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
    system.metrics.addSource(() => [this.#ended, this.#run?.metrics ?? []]);
  }

  /** Starts the thread, and returns the names of its calls. */
  async start(): Promise<readonly string[]> {
    const { clock } = this.#system;
    const startedAt = clock.elapsed();
    const run = new Run(this.#system, this.#options);
    this.#run = run;
    // Such a thread keeps a core and its memory, and only the end of the process takes them from it.
    void run.endless.then(this.#reportFailure);
    try {
      const calls = await run.ready;
      this.isRunning = true;
      this.isRestarting = false;
      void run.died.then((error) => this.#onDeath(run, { error, livedMs: clock.elapsed() - startedAt }));
      return calls;
    } catch (error) {
      this.#run = undefined;
      throw error;
    }
  }

  /**
   * Starts the thread, and again after a while when that fails.
   * @throws the error for which the thread could not start
   */
  async startAtLast(): Promise<void> {
    if (this.#isStopping) throw startsAgain(this.#options.name);
    try {
      await this.start();
    } catch (error) {
      if (!this.#isStopping) this.#restartLater({ thread: this.#options.name, err: error });
      throw error;
    }
  }

  call(name: string, ...args: CallArguments): Promise<unknown> {
    if (!this.#run || !this.isRunning) return Promise.reject(startsAgain(this.#options.name));
    return this.#run.call(name, ...args);
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#restart?.cancel();
    const run = this.#run;
    if (!run) return;
    if (this.isRunning) await run.stop(graceMs);
    else await run.terminate(new Error('the daemon stops'));
    await this.#forget(run);
  }

  #onDeath(run: Run, { error, livedMs }: { error: Error; livedMs: number }): void {
    if (this.#isStopping) return;
    void this.#forget(run);
    const { name, onDeath } = this.#options;
    if (onDeath === 'end') {
      this.#reportFailure(error);
      return;
    }
    if (livedMs >= HEALTHY_AFTER_MS) this.#deathsInARow = 0;
    this.#restartLater({ thread: name, err: error });
  }

  #restartLater(fields: { thread: string; err: unknown }): void {
    const { clock, log, metrics } = this.#system;
    this.isRestarting = true;
    const delayMs = Math.min(MIN_RESTART_DELAY_MS * 2 ** this.#deathsInARow, MAX_RESTART_DELAY_MS);
    this.#deathsInARow += 1;
    log.error({ ...fields, restartInMs: delayMs }, 'a thread has died and will be started again');
    this.#restart = clock.after(delayMs, () => {
      metrics.threadRestarts.inc({ thread: fields.thread });
      this.start().then(
        () => log.warn({ thread: fields.thread }, 'the thread runs again'),
        (error) => {
          if (!this.#isStopping) this.#restartLater({ thread: fields.thread, err: error });
        },
      );
    });
  }

  /** Keeps the sums of a run that has ended, since counters do not go back. */
  async #forget(run: Run): Promise<void> {
    this.#run = undefined;
    this.isRunning = false;
    this.#ended = await sumCounters([this.#ended, run.metrics]);
  }
}
