/**
 * Replaces Node's `Worker` for threads that lay out HTML or find links. Such a thread keeps no state between jobs, so an
 * idle thread that its application terminates serves the next application instead: starting one costs 90 ms of CPU time.
 * A thread that is terminated during a job really ends. The hook in one-file-hook.ts makes
 * src/system/killable-threads.ts import this class.
 */
import { EventEmitter } from 'node:events';
import { Worker as NodeWorker, parentPort as portOfThread, type WorkerOptions } from 'node:worker_threads';
import type { FromJobThread, ToJobThread } from '../../src/system/killable-threads/serve.ts';

export const parentPort = portOfThread;

/** Modules whose threads are kept. The threads of tests of `KillableThreads` itself are not. */
const KEPT = /\/(?:html-text|find-links|parse|script)-thread\.ts$/;

/** Threads that no application uses, by their module. */
const idle = new Map<string, NodeWorker[]>();

export class Worker extends EventEmitter {
  readonly #thread: NodeWorker;
  readonly #module: string;
  #isStarting: boolean;
  /** Number of jobs without an outcome. A job may be posted before the thread says that it is ready. */
  #jobs = 0;
  #hasEnded = false;
  readonly #forwarded: [event: string, listener: (value: unknown) => void][];

  constructor(module: URL, options: WorkerOptions) {
    super();
    this.#module = module.href;
    const kept = idle.get(module.href)?.pop();
    this.#thread = kept ?? new NodeWorker(module, options);
    this.#isStarting = kept === undefined;
    this.#forwarded = ['message', 'error', 'exit'].map((event) => [
      event,
      (value) => this.#tell(event, value),
    ]);
    for (const [event, listener] of this.#forwarded) this.#thread.on(event, listener);
    if (!kept) return;
    kept.ref();
    // This is the first message of a thread that has loaded its code.
    setImmediate(() => this.#tell('message', { kind: 'ready' }));
  }

  /** The id of the thread; -1 when it has ended. */
  get threadId(): number {
    return this.#thread.threadId;
  }

  ref(): void {
    this.#thread.ref();
  }

  unref(): void {
    this.#thread.unref();
  }

  /** Drops what is posted after the end, as Node does: the thread may serve another application, whose jobs have the same ids. */
  postMessage(message: ToJobThread<unknown>, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#hasEnded) return;
    if (message.kind === 'run') this.#jobs += message.jobs.length;
    this.#thread.postMessage(message, transfer);
  }

  async terminate(): Promise<void> {
    if (this.#isStarting || this.#jobs > 0 || this.#hasEnded || !KEPT.test(this.#module)) {
      await this.#thread.terminate();
      return;
    }
    this.#hasEnded = true;
    for (const [event, listener] of this.#forwarded) this.#thread.off(event, listener);
    // An idle thread does not keep the process alive.
    this.#thread.unref();
    idle.set(this.#module, [...(idle.get(this.#module) ?? []), this.#thread]);
    this.emit('exit', 1);
  }

  #tell(event: string, value: unknown): void {
    if (event === 'message') this.#take(value as FromJobThread<unknown>);
    if (event === 'exit') this.#hasEnded = true;
    this.emit(event, value);
  }

  #take(message: FromJobThread<unknown>): void {
    if (message.kind === 'ready') this.#isStarting = false;
    if (message.kind === 'outcomes') this.#jobs -= message.outcomes.length;
  }
}
