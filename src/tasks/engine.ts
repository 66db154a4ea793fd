/**
 * The engine of all background work but delivery. Each kind of task has a loop (system/worker.ts) that learns which queues
 * have due tasks, asks `Order` whom to serve, leases tasks to this run of the daemon or of its thread, and runs them. A lease
 * lasts until its run settles it, the engine releases it because the end of its run could not be stored, or the next start
 * finds it left over.
 */
import { commitOutcome } from '../db/commit-outcome.ts';
import { sleep } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';
import type { WakeupSubjects } from '../system/wakeups.ts';
import { type Leased, type RunningWork, startWork, type Work } from '../system/worker.ts';
import type { PartApp } from '../thread-app.ts';
import { leaseOf, type RunningTask, type TaskKind } from './kind.ts';
import { Order, type Slot } from './order.ts';
import { QueueList } from './queue-list.ts';
import {
  failTask,
  type LeasedTask,
  leaseTasks,
  listLeased,
  releaseTasks,
  retryTask,
  subjectOf,
  type TaskEnd,
} from './store.ts';

type TaskApp = Pick<
  PartApp,
  'clock' | 'crashPoint' | 'db' | 'egress' | 'log' | 'metrics' | 'runId' | 'wakeups'
>;

/** Maximum number of tasks of one lease, so that its write is short. */
const MAX_LEASED = 100;
/** Maximum number of abandoned tasks that one write releases. */
const MAX_RELEASED = 500;
/** Number of attempts after which an interrupted task is run again at once: most crashes have nothing to do with it. */
const PROMPT_ATTEMPTS = 3;

/** Maximum number of characters of a reason that is stored. */
const MAX_REASON_CHARACTERS = 500;

const INTERRUPTED = 'The last attempt was interrupted';
const BROKEN = 'The server failed to run the task';

/**
 * Wakes the engine because the rules of these queues of a kind have changed, or those of any queue when none is named. The engine
 * learns of new tasks by itself.
 */
export function wakeTasks(
  { wakeups }: Pick<TaskApp, 'wakeups'>,
  kind: string,
  queues?: readonly string[],
): void {
  wakeups.notify('tasks', queues ? queues.map((queue) => subjectOf(kind, queue)) : [kind]);
}

/** Starts these kinds. `stop` aborts the signals of the runs, and waits for their ends. */
export function startTasks(app: TaskApp, kinds: readonly TaskKind[]): RunningWork {
  const engines = kinds.map((kind) => new KindEngine(app, kind));
  const works = engines.map((engine) => startWork(app, engine.work()));
  app.metrics.gauges('tasks_running', 'Tasks that run.', {
    labels: ['kind'],
    read: () => engines.map(({ kind, running }) => ({ labels: { kind: kind.name }, value: running })),
  });
  return {
    async stop(graceMs) {
      const grace = sleep(app.clock, graceMs);
      for (const engine of engines) engine.abort();
      await Promise.all(works.map((work) => work.stop(graceMs)));
      await Promise.race([Promise.all(engines.flatMap(({ unended }) => [...unended])), grace]);
    },
  };
}

type Run = { task: LeasedTask; slot: Slot };

class KindEngine {
  readonly kind: TaskKind;
  /** Runs whose end is not stored yet. */
  readonly unended = new Set<Promise<void>>();
  readonly #app: TaskApp;
  readonly #order: Order;
  readonly #queues: QueueList;
  readonly #aborts = new Map<string, AbortController>();
  /** Leased tasks whose runs have ended, although that could not be stored. */
  readonly #stranded = new Set<LeasedTask>();
  readonly #stopListening: () => void;
  #leases = 0;
  #isPrepared = false;
  #isStopping = false;

  constructor(app: TaskApp, kind: TaskKind) {
    this.kind = kind;
    this.#app = app;
    this.#order = new Order(kind.concurrency, kind.perFree ?? 1);
    this.#queues = new QueueList(app, kind, this.#order);
    this.#stopListening = app.wakeups.listen('canceledTasks', (subjects = []) => {
      for (const subject of subjects) {
        const reference = nameAfter(kind, subject);
        if (reference !== undefined) this.#aborts.get(reference)?.abort();
      }
    });
  }

  get running(): number {
    return this.#aborts.size;
  }

  work(): Work<Run> {
    return {
      name: this.kind.name,
      wakeOn: ['tasks'],
      concerns: (subjects) => this.#noteWakeup(subjects),
      concurrency: this.kind.concurrency,
      leaseIntervalMs: this.kind.leaseIntervalMs ?? 0,
      lease: (limit) => this.#lease(Math.min(limit, MAX_LEASED)),
      run: (run) => this.#run(run),
    };
  }

  abort(): void {
    this.#isStopping = true;
    this.#stopListening();
    for (const abort of this.#aborts.values()) abort.abort();
  }

  /** Returns true for a wake-up of this kind. */
  #noteWakeup(subjects: WakeupSubjects): boolean {
    if (!subjects || subjects.includes(this.kind.name)) {
      this.#queues.listAgain();
      return true;
    }
    const queues = subjects
      .map((subject) => nameAfter(this.kind, subject))
      .filter((name) => name !== undefined);
    for (const queue of queues) this.#queues.noteChange(queue);
    return queues.length > 0;
  }

  async #lease(limit: number): Promise<Leased<Run>> {
    if (!this.#isPrepared) await this.#prepare();
    this.#isPrepared = true;
    await this.#releaseStranded();
    if (this.kind.leavesHost && this.#app.egress.isHeld) return { items: [], nextDueAt: undefined };
    const isComplete = await this.#queues.refresh();
    const now = this.#app.clock.now();
    const slots = this.#takeSlots(limit, now);
    if (slots.length > 0) return { items: await this.#leaseFor(slots, now), nextDueAt: now };
    return { items: [], nextDueAt: isComplete ? this.#queues.nextDueAt() : now };
  }

  async #prepare(): Promise<void> {
    await this.kind.prepare?.();
    const { app, kind } = { app: this.#app, kind: this.kind.name };
    let count = 0;
    // Nothing is leased to this run yet.
    for (;;) {
      const abandoned = await listLeased(app.db.read, { kind, limit: MAX_RELEASED });
      if (abandoned.length === 0) break;
      await this.#release(abandoned);
      count += abandoned.length;
    }
    if (count > 0) app.log.warn({ kind, count }, 'tasks were interrupted, and are run again');
  }

  /** Releases the tasks whose ends could not be stored. An error leaves them to the next lease, which comes a second later. */
  async #releaseStranded(): Promise<void> {
    while (this.#stranded.size > 0) {
      const tasks = [...this.#stranded].slice(0, MAX_RELEASED);
      await this.#release(tasks);
      for (const task of tasks) {
        this.#stranded.delete(task);
        this.#queues.noteChange(task.queueKey);
      }
    }
  }

  async #release(tasks: readonly LeasedTask[]): Promise<void> {
    const releases = tasks.map((task) => ({ lease: leaseOf(task), dueAt: this.#releaseAt(task) }));
    await this.#app.db.commit(releaseTasks, { releases });
  }

  /** A series of crashes must not use up the attempts at once, and a task that causes them must leave time for others. */
  #releaseAt({ attempts }: LeasedTask): number {
    const isPrompt = attempts <= PROMPT_ATTEMPTS || this.kind.backOff(attempts) === undefined;
    const delayMs = isPrompt ? 0 : (this.kind.backOff(attempts - PROMPT_ATTEMPTS) ?? 0);
    return this.#app.clock.now() + delayMs;
  }

  #takeSlots(limit: number, now: number): Slot[] {
    const slots: Slot[] = [];
    while (slots.length < limit) {
      const slot = this.#order.take(now);
      if (!slot) break;
      slots.push(slot);
    }
    return slots;
  }

  /** Leases a task for each slot, and frees the slots of queues that have fewer. */
  async #leaseFor(slots: readonly Slot[], now: number): Promise<Run[]> {
    const byQueue = Map.groupBy(slots, ({ queueKey }) => queueKey);
    const claims = [...byQueue].map(([queueKey, { length: limit }]) => ({ queueKey, limit }));
    for (const { queueKey } of claims) this.#queues.noteChange(queueKey);
    const runs: Run[] = [];
    try {
      // A task that was canceled and scheduled anew may be leased again, as its first attempt, while its old run goes on.
      const runId = `${this.#app.runId} ${++this.#leases}`;
      const tasks = await this.#app.db.commit(leaseTasks, { kind: this.kind.name, now, runId, claims });
      for (const task of tasks) {
        const slot = byQueue.get(task.queueKey)?.pop();
        if (slot) runs.push({ task, slot });
      }
    } finally {
      for (const unused of byQueue.values()) for (const slot of unused) this.#order.end(slot);
    }
    return runs;
  }

  /** Runs a task. Resolves when its slot is free, which may be before its end is stored. */
  async #run({ task, slot }: Run): Promise<void> {
    const freed = Promise.withResolvers<void>();
    const ended = this.#runToEnd(task, freed.resolve);
    this.unended.add(ended);
    void ended.finally(() => this.unended.delete(ended));
    await Promise.race([freed.promise, ended]);
    this.#order.end(slot);
    this.#queues.noteChange(task.queueKey);
  }

  async #runToEnd(task: LeasedTask, free: () => void): Promise<void> {
    const { reference, attempts, queueKey } = task;
    const kind = this.kind.name;
    const abort = new AbortController();
    if (this.#isStopping) abort.abort();
    this.#aborts.set(reference, abort);
    try {
      this.#app.crashPoint('task-leased', kind);
      const end = await this.#end({ ...task, signal: abort.signal, free });
      this.#app.crashPoint('task-settled', kind);
      if (end === 'stale' && !abort.signal.aborted)
        this.#app.log.info({ kind, reference, attempts }, 'a task was changed while it ran');
      // The queue was read when the slot was given back, which may be long ago.
      if (end === 'again') wakeTasks(this.#app, kind, [queueKey]);
    } catch (error) {
      this.#app.log.error({ kind, reference, err: error }, 'the end of a task could not be stored');
      this.#stranded.add(task);
      wakeTasks(this.#app, kind, [queueKey]);
    } finally {
      if (this.#aborts.get(reference) === abort) this.#aborts.delete(reference);
    }
  }

  /** Runs a task, whatever its run does, to an end that is stored. */
  async #end(task: RunningTask): Promise<TaskEnd> {
    const { attempts, reference, signal } = task;
    const { kind, log, clock } = { kind: this.kind.name, log: this.#app.log, clock: this.#app.clock };
    const isUsedUp = attempts > 1 && this.kind.backOff(attempts - 1) === undefined;
    if (isUsedUp) return this.#giveUp(task, INTERRUPTED);
    try {
      return await this.kind.run(task);
    } catch (error) {
      const lease = leaseOf(task);
      if (signal.aborted)
        return commitOutcome(this.#app, retryTask, { lease, dueAt: clock.now(), attempts: attempts - 1 });
      log.error({ kind, reference, err: error }, 'a task failed');
      const delayMs = this.kind.backOff(attempts);
      if (delayMs === undefined) return this.#giveUp(task, BROKEN, errorMessage(error));
      return commitOutcome(this.#app, retryTask, { lease, dueAt: clock.now() + delayMs });
    }
  }

  /** Gives a task up. `reason` is for the operator alone. */
  async #giveUp(task: LeasedTask, error: string, reason = error): Promise<TaskEnd> {
    const { kind, reference, attempts } = task;
    this.#app.log.error({ kind, reference, attempts, error }, 'a task is given up');
    try {
      if (this.kind.giveUp) return await this.kind.giveUp(task, error);
    } catch (failure) {
      this.#app.log.error({ kind, reference, err: failure }, 'a task could not be given up');
    }
    const shown = reason.slice(0, MAX_REASON_CHARACTERS);
    return commitOutcome(this.#app, failTask, { lease: leaseOf(task), error: shown });
  }
}

/** Returns the queue or the reference that a subject of a wake-up names; undefined when it is of another kind. */
function nameAfter({ name }: Pick<TaskKind, 'name'>, subject: string): string | undefined {
  const before = subjectOf(name, '');
  return subject.startsWith(before) ? subject.slice(before.length) : undefined;
}
