/**
 * Worker threads for work that a hostile input can make endless. Each job has a limit on its wall-clock time, and each
 * thread has one on its heap; a thread that exceeds a limit is terminated and replaced. Threads start when jobs first
 * need them. Every job has an outcome within a bounded time, so one job never delays the others for long.
 *
 * A thread runs one job at a time, or several asynchronous ones (`jobsPerThread`) that mostly wait, for instance for
 * DNS. When such a thread stops to answer, or dies, any of its jobs may be the cause: each of them is run once more,
 * alone in a thread.
 *
 * Jobs of different owners are served round-robin. Owners whose jobs were slow lately leave at least one thread to all
 * others, so that slow jobs of one owner do not delay the quick jobs of another one.
 */
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from './clock.ts';
import { errorMessage } from './errors.ts';
import type { JobOptions, KillableThreadsOptions } from './killable-threads/options.ts';
import { Heartbeat, JobOutbox } from './killable-threads/outbox.ts';
import type { FromJobThread, ThreadOutcome, ToJobThread } from './killable-threads/serve.ts';
import { createLru } from './lru.ts';
import { RoundRobin } from './round-robin.ts';
import { YOUNG_MEGABYTES } from './thread/young-generation.ts';

/**
 * Time for which an owner counts as slow after a job that was not quick or ended its thread, in milliseconds. Only the
 * first slow jobs of an owner can therefore run in all threads at the same time.
 */
const SLOW_OWNER_MS = 10 * 60_000;
/** Idle time after which a thread is terminated, unless its pool has another. A thread keeps the memory of its largest job. */
const IDLE_TIMEOUT_MS = 60_000;
/** Maximum number of slow owners that are remembered. */
const MAX_SLOW_OWNERS = 10_000;

type Job<Input, Result> = Pick<JobOptions, 'owner' | 'timeoutMs'> & {
  input: Input;
  transfer: readonly ArrayBuffer[];
  settle(outcome: ThreadOutcome<Result>): void;
  /** Ends the wait for a thread, or the run in it. Undefined until the job has to wait. */
  timer: Timer | undefined;
  /** True when a thread ended while it ran this job and others. */
  isSuspect: boolean;
  /** Times at which the job came and at which it started on the monotonic clock, in milliseconds. */
  arrivedAt: number;
  startedAt: number;
};

type Thread<Input, Result> = {
  worker: Worker;
  /** A `retiring` thread finishes its jobs and then ends. */
  state: 'starting' | 'ready' | 'retiring' | 'ending';
  jobs: Map<number, Job<Input, Result>>;
  outbox: JobOutbox<Input>;
  /** True while every job of this thread was quick. */
  hadQuickJobsOnly: boolean;
  /**
   * Timer that terminates the thread. It runs while the thread is idle, unless this is the idle thread that is kept.
   */
  idleTimer: Timer | undefined;
  heartbeat: Heartbeat;
  /** The error with which the thread ended by itself. */
  error: unknown;
};

/** A pool of threads. `Input` and `Result` cross between threads, so they are plain data. */
export class KillableThreads<Input, Result> {
  readonly #clock: Clock;
  readonly #options: KillableThreadsOptions;
  readonly #jobsPerThread: number;
  readonly #growAfterMs: number;
  readonly #threads = new Set<Thread<Input, Result>>();
  readonly #waiting = new RoundRobin<Job<Input, Result>>();
  /** Jobs that wait to be run alone. */
  readonly #suspects = new Set<Job<Input, Result>>();
  /** Times until which owners count as slow, in milliseconds of the monotonic clock. */
  readonly #slowUntil = createLru<string, number>(MAX_SLOW_OWNERS);
  /** Timer that starts another thread. It runs while jobs wait for threads that are busy. */
  #growTimer: Timer | undefined;
  #lastId = 0;
  #closed = false;

  constructor(clock: Clock, options: KillableThreadsOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#jobsPerThread = options.jobsPerThread ?? 1;
    this.#growAfterMs = options.growAfterMs ?? 0;
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
      const times = { arrivedAt: this.#clock.elapsed(), startedAt: 0 };
      const state = { timer: undefined, isSuspect: false, ...times };
      const job: Job<Input, Result> = { owner, timeoutMs, input, transfer, settle, ...state };
      this.#waiting.add(owner, job);
      this.#dispatch();
      // A thread has taken most jobs at once.
      job.timer ??= this.#clock.after(waitTimeoutMs, () => {
        this.#waiting.remove(owner, job);
        settle(failed('crowded', `no thread was free for ${waitTimeoutMs} ms`));
      });
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
    if (this.#waiting.size === 0 && this.#suspects.size === 0) {
      this.#stopGrowing();
      return;
    }
    // One thread is filled before the next one, since its caches then serve all jobs.
    for (const thread of [...this.#threads]) {
      while (this.#mayTake(thread)) {
        const job = this.#takeSuspect(thread) ?? this.#takeJob();
        if (!job) break;
        this.#assign(thread, job);
      }
    }
    this.#grow();
  }

  /** Starts threads for the jobs that wait: at once, or beside a busy thread once a job has waited for `growAfterMs`. */
  #grow({ isDue = false } = {}): void {
    const states = [...this.#threads].map(({ state }) => state);
    const starting = states.filter((state) => state === 'starting').length;
    const needed = Math.ceil(this.#waiting.size / this.#jobsPerThread) + this.#suspects.size - starting;
    const missing = Math.min(needed, this.#options.threads - states.length);
    if (this.#growAfterMs === 0) for (let count = 0; count < missing; count++) this.#start();
    // A thread that is starting takes the jobs that wait for it, so the others are looked at once it is ready.
    else if (missing <= 0 || starting > 0) this.#stopGrowing();
    else if (!states.includes('ready')) this.#start();
    else this.#growSlowly(isDue ? this.#longestWaitMs() : 0);
  }

  #growSlowly(waitedMs: number): void {
    if (waitedMs >= this.#growAfterMs) this.#start();
    else
      this.#growTimer ??= this.#clock.after(this.#growAfterMs - waitedMs, () => {
        this.#stopGrowing();
        // When this thread was late itself, outcomes have arrived that are read first.
        setImmediate(() => this.#grow({ isDue: true }));
      });
  }

  /** Returns the longest time for which a job has waited that may run now. Another thread would not take those of slow owners. */
  #longestWaitMs(): number {
    const now = this.#clock.elapsed();
    const mayServe = this.#ownersToServe();
    let longestMs = 0;
    for (const owner of this.#waiting.owners()) {
      const [first] = mayServe(owner) ? this.#waiting.itemsOf(owner) : [];
      if (first) longestMs = Math.max(longestMs, now - first.arrivedAt);
    }
    return longestMs;
  }

  #stopGrowing(): void {
    this.#growTimer?.cancel();
    this.#growTimer = undefined;
  }

  /** A suspect runs alone, so that it is the only job of its thread. */
  #mayTake({ state, jobs }: Thread<Input, Result>): boolean {
    const [first] = jobs.values();
    return state === 'ready' && jobs.size < this.#jobsPerThread && first?.isSuspect !== true;
  }

  #takeSuspect({ jobs }: Thread<Input, Result>): Job<Input, Result> | undefined {
    if (jobs.size > 0) return undefined;
    for (const job of this.#suspects) {
      this.#suspects.delete(job);
      return job;
    }
    return undefined;
  }

  #takeAny(): Job<Input, Result> | undefined {
    const [suspect] = this.#suspects;
    if (suspect) this.#suspects.delete(suspect);
    return suspect ?? this.#waiting.take(() => true);
  }

  #takeJob(): Job<Input, Result> | undefined {
    return this.#waiting.take(this.#ownersToServe());
  }

  /** Tells the owners whose jobs may run now. Slow owners together leave one thread free, unless it is the only one. */
  #ownersToServe(): (owner: string) => boolean {
    const isSlow = this.#findSlowOwners();
    if (!isSlow) return () => true;
    const maxSlowJobs = Math.max((this.#options.threads - 1) * this.#jobsPerThread, 1);
    let slowJobs = 0;
    for (const { jobs } of this.#threads)
      for (const { owner } of jobs.values()) if (isSlow(owner)) slowJobs++;
    return (owner) => slowJobs < maxSlowJobs || !isSlow(owner);
  }

  /**
   * Returns what tells the owners a job of which was slow lately, or has been running for longer than a quick one. Undefined when there
   * are none, which is so nearly always.
   */
  #findSlowOwners(): ((owner: string) => boolean) | undefined {
    const now = this.#clock.elapsed();
    const late = new Set<string>();
    for (const { jobs } of this.#threads) {
      // The jobs of a thread are in the order in which they have started.
      for (const { owner, startedAt } of jobs.values()) {
        if (now - startedAt < this.#options.quickJobMs) break;
        late.add(owner);
      }
    }
    if (late.size === 0 && this.#slowUntil.size === 0) return undefined;
    return (owner) => late.has(owner) || now < (this.#slowUntil.get(owner) ?? 0);
  }

  #assign(thread: Thread<Input, Result>, job: Job<Input, Result>): void {
    const { timeoutMs } = job;
    const id = ++this.#lastId;
    job.timer?.cancel();
    job.timer = this.#clock.after(timeoutMs, () => this.#overrun(thread, id));
    job.startedAt = this.#clock.elapsed();
    thread.idleTimer?.cancel();
    thread.idleTimer = undefined;
    thread.jobs.set(id, job);
    thread.worker.ref();
    thread.outbox.add({ id, input: job.input, transfer: job.transfer });
    if (this.#jobsPerThread > 1) thread.heartbeat.start();
  }

  #start(): void {
    const { module, data, heapMegabytes } = this.#options;
    const resourceLimits = {
      maxOldGenerationSizeMb: heapMegabytes,
      maxYoungGenerationSizeMb: YOUNG_MEGABYTES,
    };
    const worker = new Worker(module, { resourceLimits, workerData: data });
    const thread: Thread<Input, Result> = {
      worker,
      state: 'starting',
      jobs: new Map(),
      outbox: new JobOutbox<Input>(worker, (id, error) =>
        this.#settleJobOf(thread, id, failed('threw', errorMessage(error))),
      ),
      hadQuickJobsOnly: true,
      idleTimer: undefined,
      heartbeat: new Heartbeat(this.#clock, {
        ping: () => worker.postMessage({ kind: 'ping' } satisfies ToJobThread<Input>),
        onBlocked: () => void this.#end(thread, 'overran', 'it has blocked its thread'),
      }),
      error: undefined,
    };
    this.#threads.add(thread);
    worker.on('message', (message: FromJobThread<Result>) => this.#receive(thread, message));
    worker.on('error', (error) => {
      thread.error = error;
    });
    worker.on('exit', () => this.#remove(thread));
  }

  #receive(thread: Thread<Input, Result>, message: FromJobThread<Result>): void {
    // The jobs of a terminated thread are settled already, so a late message is dropped.
    if (thread.state === 'ending') return;
    thread.heartbeat.markAnswered();
    switch (message.kind) {
      case 'ready':
        thread.state = 'ready';
        break;
      case 'pong':
        return;
      case 'outcomes':
        for (const { id, outcome } of message.outcomes) this.#settleJobOf(thread, id, outcome);
    }
    this.#dispatch();
    if (thread.jobs.size === 0) this.#markIdle(thread);
  }

  /**
   * Lets an idle thread keep no process alive, and terminates it after a while to free its memory. One idle thread is
   * kept for the next job.
   */
  #markIdle(thread: Thread<Input, Result>): void {
    thread.heartbeat.stop();
    if (thread.state === 'retiring') {
      void this.#end(thread, 'closed', 'it has retired');
      return;
    }
    thread.worker.unref();
    const others = [...this.#threads].filter((other) => other !== thread);
    const isOneKept = others.some(
      ({ state, jobs, idleTimer }) => state === 'ready' && jobs.size === 0 && !idleTimer,
    );
    if (thread.hadQuickJobsOnly && !isOneKept) return;
    thread.idleTimer?.cancel();
    thread.idleTimer = this.#clock.after(
      this.#options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
      () => void this.#end(thread, 'closed', 'it had nothing to do'),
    );
  }

  /**
   * Fails a job that has exceeded its time. A thread that runs nothing else is terminated. One that runs other jobs
   * answers, or it would have been ended as blocked; it takes no new job, and ends when the others are done.
   */
  #overrun(thread: Thread<Input, Result>, id: number): void {
    const message = `it took longer than ${thread.jobs.get(id)?.timeoutMs} ms`;
    if (thread.jobs.size === 1) {
      void this.#end(thread, 'overran', message);
      return;
    }
    thread.state = 'retiring';
    this.#settleJobOf(thread, id, failed('overran', message));
    this.#dispatch();
  }

  async #end(thread: Thread<Input, Result>, reason: 'overran' | 'closed', message: string): Promise<void> {
    thread.state = 'ending';
    thread.idleTimer?.cancel();
    thread.heartbeat.stop();
    this.#settleJobsOf(thread, failed(reason, message));
    await thread.worker.terminate();
  }

  #remove(thread: Thread<Input, Result>): void {
    this.#threads.delete(thread);
    thread.idleTimer?.cancel();
    thread.heartbeat.stop();
    // A thread that failed to start fails one job. Otherwise it would be started again for ever.
    const unstarted = thread.state === 'starting' ? this.#takeAny() : undefined;
    const outcome = failed('died', errorMessage(thread.error ?? 'the thread has ended'));
    if (unstarted) this.#settle(unstarted, outcome);
    this.#settleJobsOf(thread, outcome);
    this.#dispatch();
  }

  /**
   * Settles the jobs of a thread that ends. One of several jobs may have ended it; they are tried alone, except those
   * whose memory has moved to the thread.
   */
  #settleJobsOf(thread: Thread<Input, Result>, outcome: ThreadOutcome<Result>): void {
    const areTriedAlone = thread.jobs.size > 1 && !this.#closed;
    for (const [id, job] of thread.jobs) {
      if (areTriedAlone && job.transfer.length === 0) this.#tryAlone(job);
      else this.#settleJobOf(thread, id, outcome);
    }
    thread.jobs.clear();
  }

  #tryAlone(job: Job<Input, Result>): void {
    job.isSuspect = true;
    job.timer?.cancel();
    job.timer = this.#clock.after(job.timeoutMs, () => {
      this.#suspects.delete(job);
      job.settle(failed('crowded', `no thread was free for ${job.timeoutMs} ms`));
    });
    this.#suspects.add(job);
  }

  #settleJobOf(thread: Thread<Input, Result>, id: number, outcome: ThreadOutcome<Result>): void {
    const job = thread.jobs.get(id);
    thread.jobs.delete(id);
    if (!job) return;
    const endedAt = this.#clock.elapsed();
    const hasDied = outcome.kind === 'failed' && outcome.reason === 'died';
    if (hasDied || endedAt - job.startedAt >= this.#options.quickJobMs) {
      thread.hadQuickJobsOnly = false;
      this.#slowUntil.set(job.owner, endedAt + SLOW_OWNER_MS);
    }
    this.#settle(job, outcome);
  }

  #settle(job: Job<Input, Result>, outcome: ThreadOutcome<Result>): void {
    job.timer?.cancel();
    job.settle(outcome);
  }
}

function failed(
  reason: 'threw' | 'overran' | 'died' | 'crowded' | 'closed',
  message: string,
): ThreadOutcome<never> {
  return { kind: 'failed', reason, message };
}
