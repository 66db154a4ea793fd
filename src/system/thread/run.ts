/** One run of a thread, from its start to its end: its messages, its calls, and the check that it still answers. */
import { type Transferable, Worker } from 'node:worker_threads';
import type { Timer } from '../clock.ts';
import { AppError } from '../errors.ts';
import { followLogLevel, logLevelOf, writeLine } from '../log.ts';
import type { MetricSnapshot } from '../metrics.ts';
import { interrupted, PendingCalls } from './calls.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';
import type { ThreadOptions, ThreadSystem } from './part.ts';
import { WakeupRelay } from './wakeups.ts';
import { YOUNG_MEGABYTES } from './young-generation.ts';

/**
 * A thread reports every second that it is alive, once it has loaded its code. It is checked every 5 s, and is ended at
 * the seventh check in a row without a report, which also limits the time for loading. The checks are counted, because a
 * process that was suspended finds that much time has passed and no message read.
 */
const CHECK_PERIOD_MS = 5_000;
const MAX_SILENT_CHECKS = 6;
/** Time beyond the grace period after which a stopping thread is terminated. */
const STOP_MARGIN_MS = 2_000;
/** Time within which a thread that was terminated has to end. Usually it takes milliseconds. */
const TERMINATION_MS = 10_000;

/** One run of a thread, from its start to its end. */
export class Run {
  /** Resolves when the part runs. Rejects when the thread ends before. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the thread has ended. */
  readonly died: Promise<Error>;
  /** Resolves, with the reason, only if the thread was terminated and has not ended. */
  readonly endless: Promise<Error>;
  /** The metrics that the thread reported last. */
  metrics: MetricSnapshot = [];
  readonly #system: ThreadSystem;
  readonly #name: string;
  readonly #worker: Worker;
  readonly #wakeups: WakeupRelay;
  readonly #calls = new PendingCalls((request, transfer) => this.#post(request, transfer));
  readonly #becameReady = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #outlivedTermination = Promise.withResolvers<Error>();
  readonly #unfollowLogLevel: () => void;
  #silentChecks = 0;
  #check: Timer;
  /** The reason why the thread ends. */
  #reason: Error | undefined;

  constructor(system: ThreadSystem, { name, module, heapMegabytes, prepare }: ThreadOptions) {
    this.#system = system;
    this.#name = name;
    this.ready = this.#becameReady.promise;
    this.#wakeups = new WakeupRelay(system, (message) => this.#post(message));
    const { data, transfer } = prepare();
    this.#worker = new Worker(module, {
      name,
      workerData: { name, data, logLevel: logLevelOf(system.log) } satisfies ThreadStart,
      transferList: transfer,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', (error) => {
      this.#reason ??= error instanceof Error ? error : new Error(String(error));
    });
    this.died = new Promise((resolve) => {
      this.#worker.once('exit', () => resolve(this.#end()));
    });
    this.#unfollowLogLevel = followLogLevel(system.log, (level) => this.#post({ kind: 'log-level', level }));
    this.endless = this.#outlivedTermination.promise;
    this.#check = this.#checkLater();
  }

  call(name: string, input: unknown, transfer?: readonly Transferable[]): Promise<unknown> {
    return this.#calls.call(name, input, transfer);
  }

  /** Lets the part end what is under way, and ends the thread. */
  async stop(graceMs: number): Promise<void> {
    const { clock, log } = this.#system;
    this.#post({ kind: 'stop', graceMs });
    const timer = clock.after(graceMs + STOP_MARGIN_MS, () => {
      log.warn({ thread: this.#name }, 'a thread did not stop in time');
      this.#stopped.resolve();
    });
    await Promise.race([this.#stopped.promise, this.died]);
    timer.cancel();
    await this.terminate(new Error('the thread was stopped'));
  }

  /**
   * Ends the thread. It resolves when the thread has ended, or after `TERMINATION_MS` with `endless` settled: V8 does not
   * always obey while the heap of a thread is exhausted.
   */
  async terminate(reason: Error): Promise<void> {
    this.#reason ??= reason;
    this.#check.cancel();
    const late = Promise.withResolvers<void>();
    const timer = this.#system.clock.after(TERMINATION_MS, () => {
      this.#outlivedTermination.resolve(new Error('a thread could not be ended', { cause: this.#reason }));
      this.#end();
      late.resolve();
    });
    await Promise.race([this.#worker.terminate(), late.promise]);
    timer.cancel();
  }

  #post(message: ToThread, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #receive(message: FromThread): void {
    this.#silentChecks = 0;
    switch (message.kind) {
      case 'ready':
        this.#becameReady.resolve();
        break;
      case 'alive':
        this.metrics = message.metrics;
        break;
      case 'log':
        for (const line of message.lines) writeLine(this.#system.log, line);
        break;
      case 'listen':
        this.#wakeups.listen(message.name);
        break;
      case 'wakeup':
        this.#wakeups.passOn(message);
        break;
      case 'answer':
        this.#calls.settle(message);
        break;
      case 'stopped':
        this.metrics = message.metrics;
        this.#stopped.resolve();
    }
  }

  #checkLater(): Timer {
    return this.#system.clock.after(CHECK_PERIOD_MS, () => {
      this.#silentChecks += 1;
      const silentMs = this.#silentChecks * CHECK_PERIOD_MS;
      if (this.#silentChecks > MAX_SILENT_CHECKS)
        void this.terminate(new Error(`the thread has reported nothing for ${silentMs} ms`));
      else this.#check = this.#checkLater();
    });
  }

  #end(): Error {
    const reason = this.#reason ?? new Error('the thread has ended by itself');
    this.#check.cancel();
    this.#wakeups.close();
    this.#unfollowLogLevel();
    this.#becameReady.reject(reason);
    this.#calls.rejectAll(interrupted(`The part "${this.#name}" of the daemon`));
    return reason;
  }
}

/** Returns the refusal of a call that was not sent to the thread, which does not run at the moment. */
export function startsAgain(name: string): AppError {
  return new AppError('unavailable', `The part "${name}" of the daemon is being started again`, {
    retryAfterSeconds: 1,
  });
}
