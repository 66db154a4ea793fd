/**
 * Worker threads for work that a hostile input can make endless: one job at a time in each, an end to each by the wall
 * clock and by its heap, and a new thread where one was ended. Threads start when jobs first need them. A job always
 * has an outcome, soon, whatever its input does: nobody is made to wait for another's bomb.
 */
import { parentPort, Worker } from 'node:worker_threads';
import type { Clock, Timer } from './clock.ts';
import { errorMessage } from './errors.ts';

export type KillableThreadsOptions = {
  /** Calls `answerJobs`. */
  module: URL;
  threads: number;
  /** Of one job, from the moment a thread has it. */
  jobTimeoutMs: number;
  /** How long a job waits for a thread. */
  waitTimeoutMs: number;
  mostWaiting: number;
  /** After so long without a job a thread is ended. */
  idleTimeoutMs: number;
  /** Of the threads whose jobs were all done sooner, and so left little memory behind, one is kept however long it idles. */
  quickJobMs: number;
  /** Of each thread, for what lives longer than a moment. */
  heapMegabytes: number;
};

/** Of each thread besides, for what does not. Node would give a busy one some 100 MB more. */
const YOUNG_MEGABYTES = 16;

/**
 * `overran`: ended by the clock; `died`: the thread ended by itself, for instance for want of memory, or did not start;
 * `crowded`: too many are waiting, or it waited too long.
 */
export type ThreadOutcome<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; reason: 'threw' | 'overran' | 'died' | 'crowded' | 'closed'; message: string };

type Job<Input, Result> = {
  input: Input;
  settle(outcome: ThreadOutcome<Result>): void;
  timer: Timer;
};

type Thread<Input, Result> = {
  worker: Worker;
  state: 'starting' | 'idle' | 'busy' | 'ending';
  job: Job<Input, Result> | undefined;
  /** On the monotonic clock. */
  jobStartedAt: number;
  /** So far. */
  hadQuickJobsOnly: boolean;
  /** Runs while it is idle, unless it is the one that is kept. */
  idleTimer: Timer | undefined;
  /** Why it ends by itself. */
  error: unknown;
};

type Message<Result> = { kind: 'ready' } | ThreadOutcome<Result>;

/** `Input` and `Result` cross between threads: plain data. */
export class KillableThreads<Input, Result> {
  readonly #clock: Clock;
  readonly #options: KillableThreadsOptions;
  readonly #threads = new Set<Thread<Input, Result>>();
  readonly #waiting = new Set<Job<Input, Result>>();
  #closed = false;

  constructor(clock: Clock, options: KillableThreadsOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Never rejects for what the job does. */
  run(input: Input): Promise<ThreadOutcome<Result>> {
    if (this.#closed) return Promise.resolve(failed('closed', 'the threads are closed'));
    if (this.#waiting.size >= this.#options.mostWaiting) {
      return Promise.resolve(failed('crowded', `${this.#waiting.size} jobs are waiting`));
    }
    return new Promise((settle) => {
      const { waitTimeoutMs } = this.#options;
      const timer = this.#clock.after(waitTimeoutMs, () => {
        this.#waiting.delete(job);
        settle(failed('crowded', `no thread was free for ${waitTimeoutMs} ms`));
      });
      const job = { input, settle, timer };
      this.#waiting.add(job);
      this.#dispatch();
    });
  }

  /** Ends what runs and what waits, at once. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting) this.#settle(job, failed('closed', 'the threads were closed'));
    this.#waiting.clear();
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, 'closed', 'it was closed')));
  }

  #dispatch(): void {
    const threads = [...this.#threads];
    for (const thread of threads.filter(({ state }) => state === 'idle')) {
      const job = this.#takeJob();
      if (!job) return;
      this.#give(thread, job);
    }
    const starting = threads.filter(({ state }) => state === 'starting').length;
    const room = this.#options.threads - threads.length;
    for (let count = 0; count < Math.min(this.#waiting.size - starting, room); count++) this.#start();
  }

  #takeJob(): Job<Input, Result> | undefined {
    const [job] = this.#waiting;
    if (job) this.#waiting.delete(job);
    return job;
  }

  #give(thread: Thread<Input, Result>, job: Job<Input, Result>): void {
    const { jobTimeoutMs } = this.#options;
    job.timer.cancel();
    job.timer = this.#clock.after(
      jobTimeoutMs,
      () => void this.#end(thread, 'overran', `it took longer than ${jobTimeoutMs} ms`),
    );
    thread.idleTimer?.cancel();
    thread.idleTimer = undefined;
    thread.job = job;
    thread.jobStartedAt = this.#clock.elapsed();
    thread.state = 'busy';
    thread.worker.ref();
    thread.worker.postMessage(job.input);
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
    worker.on('exit', () => this.#bury(thread));
  }

  #receive(thread: Thread<Input, Result>, message: Message<Result>): void {
    // What a thread said just before its end has been settled otherwise.
    if (thread.state === 'ending') return;
    thread.state = 'idle';
    if (message.kind !== 'ready') {
      const tookMs = this.#clock.elapsed() - thread.jobStartedAt;
      thread.hadQuickJobsOnly &&= tookMs < this.#options.quickJobMs;
      this.#settleJobOf(thread, message);
    }
    this.#dispatch();
    if (thread.state === 'idle') this.#rest(thread);
  }

  /** A thread without work keeps no process alive, and not for ever its memory; but one is there for the next job. */
  #rest(thread: Thread<Input, Result>): void {
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

  #bury(thread: Thread<Input, Result>): void {
    this.#threads.delete(thread);
    thread.idleTimer?.cancel();
    // A thread that cannot start costs a job, or it would be started for ever.
    if (thread.state === 'starting') thread.job = this.#takeJob();
    this.#settleJobOf(thread, failed('died', errorMessage(thread.error ?? 'the thread has ended')));
    this.#dispatch();
  }

  #settleJobOf(thread: Thread<Input, Result>, outcome: ThreadOutcome<Result>): void {
    const { job } = thread;
    thread.job = undefined;
    if (job) this.#settle(job, outcome);
  }

  #settle(job: Job<Input, Result>, outcome: ThreadOutcome<Result>): void {
    job.timer.cancel();
    job.settle(outcome);
  }
}

function failed(reason: 'overran' | 'died' | 'crowded' | 'closed', message: string): ThreadOutcome<never> {
  return { kind: 'failed', reason, message };
}

/** The thread's side: called once, at the end of its module. */
export function answerJobs<Input, Result>(run: (input: Input) => Result): void {
  const port = parentPort;
  if (!port) throw new Error('answerJobs is called in a worker thread');
  port.on('message', (input: Input) => port.postMessage(attempt(run, input)));
  port.postMessage({ kind: 'ready' } satisfies Message<Result>);
}

function attempt<Input, Result>(run: (input: Input) => Result, input: Input): ThreadOutcome<Result> {
  try {
    return { kind: 'done', result: run(input) };
  } catch (error) {
    return { kind: 'failed', reason: 'threw', message: errorMessage(error) };
  }
}
