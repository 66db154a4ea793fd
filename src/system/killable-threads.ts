/**
 * Worker threads for work that a hostile input can make endless. Each thread runs one job at a time, with a limit on
 * its wall-clock time and on its heap; a thread that exceeds a limit is terminated and replaced. Threads start when
 * jobs first need them. Every job has an outcome within a bounded time, so one job never delays the others for long.
 *
 * Jobs of different owners are served round-robin. Owners whose jobs were slow lately leave at least one thread to all
 * others, so that slow jobs of one owner do not delay the quick jobs of another one.
 */
import { parentPort, Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { Clock, Timer } from './clock.ts';
import { errorMessage } from './errors.ts';
import { RoundRobin } from './round-robin.ts';

export type KillableThreadsOptions = {
  /** URL of the module that the threads run. It calls `serveJobs`. */
  module: URL;
  threads: number;
  /** Maximum number of waiting jobs of one owner. */
  maxWaiting: number;
  /** Idle time after which a thread is terminated, in milliseconds. */
  idleTimeoutMs: number;
  /**
   * Jobs below this time, in milliseconds, are quick and leave little memory behind. One thread that has run only such
   * jobs is kept while idle.
   */
  quickJobMs: number;
  /** Maximum size of each thread's old generation, for objects that live long. */
  heapMegabytes: number;
};

export type JobOptions = {
  /** Jobs of an owner run in the order in which they came. */
  owner: string;
  /** Maximum time of the job, in milliseconds, from the moment a thread receives it. */
  timeoutMs: number;
  /** Maximum time that the job waits for a thread, in milliseconds. */
  waitTimeoutMs: number;
  /** Memory of the input that moves to the thread instead of being copied. The caller can no longer use it. */
  transfer?: readonly ArrayBuffer[];
};

/**
 * Time for which an owner counts as slow after a job that was not quick or ended its thread, in milliseconds. Only the
 * first slow jobs of an owner can therefore run in all threads at the same time. Our own limit.
 */
const SLOW_OWNER_MS = 10 * 60_000;
/** Maximum number of slow owners that are remembered. Our own limit. */
const MAX_SLOW_OWNERS = 10_000;

/**
 * Maximum size of each thread's young generation, for short-lived objects. Node's default would give a busy thread
 * about 100 MB more.
 */
const YOUNG_MEGABYTES = 16;

/**
 * The outcome of a job. `overran`: it exceeded its time. `died`: the thread ended, for instance for lack of memory,
 * or did not start. `crowded`: too many jobs were waiting, or this one waited too long.
 */
export type ThreadOutcome<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; reason: 'threw' | 'overran' | 'died' | 'crowded' | 'closed'; message: string };

type Job<Input, Result> = Pick<JobOptions, 'owner' | 'timeoutMs'> & {
  input: Input;
  transfer: readonly ArrayBuffer[];
  settle(outcome: ThreadOutcome<Result>): void;
  timer: Timer;
};

type Thread<Input, Result> = {
  worker: Worker;
  state: 'starting' | 'idle' | 'busy' | 'ending';
  job: Job<Input, Result> | undefined;
  /** Start of the current job on the monotonic clock, in milliseconds. */
  jobStartedAt: number;
  /** True while every job of this thread was quick. */
  hadQuickJobsOnly: boolean;
  /**
   * Timer that terminates the thread. It runs while the thread is idle, unless this is the idle thread that is kept.
   */
  idleTimer: Timer | undefined;
  /** The error with which the thread ended by itself. */
  error: unknown;
};

type Message<Result> = { kind: 'ready' } | ThreadOutcome<Result>;

/** A pool of threads. `Input` and `Result` cross between threads, so they are plain data. */
export class KillableThreads<Input, Result> {
  readonly #clock: Clock;
  readonly #options: KillableThreadsOptions;
  readonly #threads = new Set<Thread<Input, Result>>();
  readonly #waiting = new RoundRobin<Job<Input, Result>>();
  /** Times until which owners count as slow, in milliseconds of the monotonic clock. */
  readonly #slowUntil = new LRUCache<string, number>({ max: MAX_SLOW_OWNERS });
  #closed = false;

  constructor(clock: Clock, options: KillableThreadsOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Runs a job in a thread. It never rejects because of the job. */
  run(
    input: Input,
    { owner, timeoutMs, waitTimeoutMs, transfer = [] }: JobOptions,
  ): Promise<ThreadOutcome<Result>> {
    if (this.#closed) return Promise.resolve(failed('closed', 'the threads are closed'));
    const waiting = this.#waiting.count(owner);
    if (waiting >= this.#options.maxWaiting)
      return Promise.resolve(failed('crowded', `${waiting} jobs are waiting`));
    return new Promise((settle) => {
      const timer = this.#clock.after(waitTimeoutMs, () => {
        this.#waiting.remove(owner, job);
        settle(failed('crowded', `no thread was free for ${waitTimeoutMs} ms`));
      });
      const job = { owner, timeoutMs, input, transfer, settle, timer };
      this.#waiting.add(owner, job);
      this.#dispatch();
    });
  }

  /** Terminates all threads at once. Running and waiting jobs fail with `closed`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (let job = this.#takeAny(); job; job = this.#takeAny())
      this.#settle(job, failed('closed', 'the threads were closed'));
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, 'closed', 'it was closed')));
  }

  #dispatch(): void {
    const threads = [...this.#threads];
    for (const thread of threads.filter(({ state }) => state === 'idle')) {
      const job = this.#takeJob();
      if (!job) return;
      this.#assign(thread, job);
    }
    const starting = threads.filter(({ state }) => state === 'starting').length;
    const startable = this.#options.threads - threads.length;
    for (let count = 0; count < Math.min(this.#waiting.size - starting, startable); count++) this.#start();
  }

  #takeAny(): Job<Input, Result> | undefined {
    return this.#waiting.take(() => true);
  }

  /** Returns the next job that may run now. Slow owners together leave one thread free, unless it is the only one. */
  #takeJob(): Job<Input, Result> | undefined {
    const running = [...this.#threads].flatMap(({ job }) => job ?? []);
    const slowJobs = running.filter(({ owner }) => this.#isSlow(owner)).length;
    const maySlowRun = slowJobs < Math.max(this.#options.threads - 1, 1);
    return this.#waiting.take((owner) => maySlowRun || !this.#isSlow(owner));
  }

  /** Returns true when a job of the owner was slow lately, or has been running for longer than a quick one. */
  #isSlow(owner: string): boolean {
    const now = this.#clock.elapsed();
    if (now < (this.#slowUntil.get(owner) ?? 0)) return true;
    return [...this.#threads].some(
      ({ job, jobStartedAt }) => job?.owner === owner && now - jobStartedAt >= this.#options.quickJobMs,
    );
  }

  #assign(thread: Thread<Input, Result>, job: Job<Input, Result>): void {
    const { timeoutMs } = job;
    job.timer.cancel();
    job.timer = this.#clock.after(
      timeoutMs,
      () => void this.#end(thread, 'overran', `it took longer than ${timeoutMs} ms`),
    );
    thread.idleTimer?.cancel();
    thread.idleTimer = undefined;
    thread.job = job;
    thread.jobStartedAt = this.#clock.elapsed();
    thread.state = 'busy';
    thread.worker.ref();
    thread.worker.postMessage(job.input, job.transfer);
  }

  #start(): void {
    const { module, heapMegabytes } = this.#options;
    const resourceLimits = {
      maxOldGenerationSizeMb: heapMegabytes,
      maxYoungGenerationSizeMb: YOUNG_MEGABYTES,
    };
    const worker = new Worker(module, { resourceLimits });
    const thread: Thread<Input, Result> = {
      worker,
      state: 'starting',
      job: undefined,
      jobStartedAt: 0,
      hadQuickJobsOnly: true,
      idleTimer: undefined,
      error: undefined,
    };
    this.#threads.add(thread);
    worker.on('message', (message: Message<Result>) => this.#receive(thread, message));
    worker.on('error', (error) => {
      thread.error = error;
    });
    worker.on('exit', () => this.#remove(thread));
  }

  #receive(thread: Thread<Input, Result>, message: Message<Result>): void {
    // The job of a terminated thread is settled already, so a late message is dropped.
    if (thread.state === 'ending') return;
    thread.state = 'idle';
    if (message.kind !== 'ready') {
      this.#settleJobOf(thread, message);
    }
    this.#dispatch();
    if (thread.state === 'idle') this.#markIdle(thread);
  }

  /**
   * Lets an idle thread keep no process alive, and terminates it after a while to free its memory. One idle thread is
   * kept for the next job.
   */
  #markIdle(thread: Thread<Input, Result>): void {
    thread.worker.unref();
    const others = [...this.#threads].filter((other) => other !== thread);
    const isOneKept = others.some(({ state, idleTimer }) => state === 'idle' && !idleTimer);
    if (thread.hadQuickJobsOnly && !isOneKept) return;
    thread.idleTimer = this.#clock.after(
      this.#options.idleTimeoutMs,
      () => void this.#end(thread, 'closed', 'it had nothing to do'),
    );
  }

  async #end(thread: Thread<Input, Result>, reason: 'overran' | 'closed', message: string): Promise<void> {
    thread.state = 'ending';
    thread.idleTimer?.cancel();
    this.#settleJobOf(thread, failed(reason, message));
    await thread.worker.terminate();
  }

  #remove(thread: Thread<Input, Result>): void {
    this.#threads.delete(thread);
    thread.idleTimer?.cancel();
    // A thread that failed to start fails one job. Otherwise it would be started again for ever.
    const unstarted = thread.state === 'starting' ? this.#takeAny() : undefined;
    const outcome = failed('died', errorMessage(thread.error ?? 'the thread has ended'));
    if (unstarted) this.#settle(unstarted, outcome);
    this.#settleJobOf(thread, outcome);
    this.#dispatch();
  }

  #settleJobOf(thread: Thread<Input, Result>, outcome: ThreadOutcome<Result>): void {
    const { job, jobStartedAt } = thread;
    thread.job = undefined;
    if (!job) return;
    const endedAt = this.#clock.elapsed();
    const hasDied = outcome.kind === 'failed' && outcome.reason === 'died';
    if (hasDied || endedAt - jobStartedAt >= this.#options.quickJobMs) {
      thread.hadQuickJobsOnly = false;
      this.#slowUntil.set(job.owner, endedAt + SLOW_OWNER_MS);
    }
    this.#settle(job, outcome);
  }

  #settle(job: Job<Input, Result>, outcome: ThreadOutcome<Result>): void {
    job.timer.cancel();
    job.settle(outcome);
  }
}

function failed(reason: 'overran' | 'died' | 'crowded' | 'closed', message: string): ThreadOutcome<never> {
  return { kind: 'failed', reason, message };
}

/**
 * Serves the jobs of a pool. The module of a worker thread calls it once, at its end.
 * @throws Error when it runs in the main thread
 */
export function serveJobs<Input, Result>(run: (input: Input) => Result | Promise<Result>): void {
  const port = parentPort;
  if (!port) throw new Error('serveJobs is called in a worker thread');
  port.on('message', async (input: Input) => port.postMessage(await attempt(run, input)));
  port.postMessage({ kind: 'ready' } satisfies Message<Result>);
}

async function attempt<Input, Result>(
  run: (input: Input) => Result | Promise<Result>,
  input: Input,
): Promise<ThreadOutcome<Result>> {
  try {
    return { kind: 'done', result: await run(input) };
  } catch (error) {
    return { kind: 'failed', reason: 'threw', message: errorMessage(error) };
  }
}
