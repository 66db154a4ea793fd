/**
 * Runs a part of the daemon in a thread of its own, so that its work does not delay the main thread and its memory is
 * bounded. The thread has a `System` of its own. Log lines, metrics, wake-ups and calls cross as messages
 * (thread/messages.ts). A thread that dies or no longer answers is started again, unless it is vital.
 */
import type { Timer } from './clock.ts';
import { type MetricSnapshot, sumCounters } from './metrics.ts';
import { remoteCalls } from './thread/calls.ts';
import type { Calls, Part, ThreadOptions, ThreadSystem } from './thread/part.ts';
import { Run, startsAgain } from './thread/run.ts';

/** A part that starts at its first call, or at `start`: a thread takes 20 MB and more. */
export type PartThread<Functions extends Calls> = Part<Functions> & {
  /** Resolves, with the reason, only if the thread could not be ended, or a vital thread has died. */
  readonly failed: Promise<Error>;
  /** False while the thread waits to be started again. It counts as running before its first start. */
  readonly isRunning: boolean;
  /**
   * Starts the part, once. It resolves when the part runs.
   * @throws the error for which the thread could not start; it is started again after a while
   */
  start(): Promise<void>;
};

/** Delay before the first restart, in milliseconds. It doubles with each death that follows soon. */
const MIN_RESTART_DELAY_MS = 1_000;
const MAX_RESTART_DELAY_MS = 60_000;
/** Time after which a thread counts as healthy, so that its next death begins with the shortest delay again. */
const HEALTHY_AFTER_MS = 600_000;

/** Returns a part with a thread of its own. */
export function createThread<Functions extends Calls>(
  system: ThreadSystem,
  options: ThreadOptions,
): PartThread<Functions> {
  return new Supervisor<Functions>(system, options);
}

/** Returns a part that runs in the calling thread, in the form of one that has a thread of its own. */
export function inThisThread<Functions extends Calls>(
  open: () => Promise<Part<Functions>>,
): PartThread<Functions> {
  let opening: Promise<Part<Functions>> | undefined;
  const start = () => (opening ??= open());
  return {
    calls: remoteCalls<Functions>(async (name, input) => {
      const { calls }: Part<Calls> = await start();
      return calls[name]?.(input as never);
    }),
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
class Supervisor<Functions extends Calls> implements PartThread<Functions> {
  readonly calls = remoteCalls<Functions>(async (...call) => {
    await this.start().catch(() => {});
    if (!this.#run || !this.#isUp) throw startsAgain(this.#options.name);
    return this.#run.call(...call);
  });
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #system: ThreadSystem;
  readonly #options: ThreadOptions;
  #starting: Promise<void> | undefined;
  #run: Run | undefined;
  /** True from the moment that the part of `#run` runs. */
  #isUp = false;
  /** True from a death, or a failed start, until the thread runs again. */
  #isRestarting = false;
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

  get isRunning(): boolean {
    return this.#isUp || !(this.#isRestarting || this.#isStopping);
  }

  start(): Promise<void> {
    this.#starting ??= this.#launch();
    return this.#starting;
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#restart?.cancel();
    const run = this.#run;
    if (!run) return;
    if (this.#isUp) await run.stop(graceMs);
    else await run.terminate(new Error('the daemon stops'));
    await this.#forget(run);
  }

  /** Starts the thread, and again after a while when that fails. */
  async #launch(): Promise<void> {
    if (this.#isStopping) throw startsAgain(this.#options.name);
    const { clock } = this.#system;
    const startedAt = clock.elapsed();
    try {
      const run = new Run(this.#system, this.#options);
      this.#run = run;
      // Such a thread keeps a core and its memory, and only the end of the process takes them from it.
      void run.endless.then(this.#reportFailure);
      await run.ready;
      this.#isUp = true;
      this.#isRestarting = false;
      void run.died.then((error) => this.#onDeath(run, { error, livedMs: clock.elapsed() - startedAt }));
    } catch (error) {
      this.#run = undefined;
      if (!this.#isStopping) this.#restartLater(error);
      throw error;
    }
  }

  #onDeath(run: Run, { error, livedMs }: { error: Error; livedMs: number }): void {
    if (this.#isStopping) return;
    void this.#forget(run);
    if (livedMs >= HEALTHY_AFTER_MS) this.#deathsInARow = 0;
    this.#restartLater(error);
  }

  #restartLater(err: unknown): void {
    const { clock, log, metrics } = this.#system;
    const { name: thread, isVital } = this.#options;
    this.#isRestarting = true;
    if (isVital) {
      this.#reportFailure(new Error(`the thread "${thread}" has died`, { cause: err }));
      return;
    }
    const delayMs = Math.min(MIN_RESTART_DELAY_MS * 2 ** this.#deathsInARow, MAX_RESTART_DELAY_MS);
    this.#deathsInARow += 1;
    log.error({ thread, err, restartInMs: delayMs }, 'a thread has died and will be started again');
    this.#restart = clock.after(delayMs, () => {
      metrics.threadRestarts.inc({ thread });
      this.#launch().then(
        () => log.warn({ thread }, 'the thread runs again'),
        // The next start is planned already.
        () => {},
      );
    });
  }

  /** Keeps the sums of a run that has ended, since counters do not go back. */
  async #forget(run: Run): Promise<void> {
    this.#run = undefined;
    this.#isUp = false;
    this.#ended = await sumCounters([this.#ended, run.metrics]);
  }
}
