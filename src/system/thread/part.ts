/** A part of the daemon, such as the posting of webhooks, and the thread that it may have for itself. */
import type { Transferable } from 'node:worker_threads';
import type { System } from '../system.ts';

/**
 * Functions of a part that other threads call. Inputs and results are plain data. A function with ports in its input has a second
 * parameter, the list of them, which moves them to the thread.
 */
export type Calls = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/** A part of the daemon. It has the same form in the thread of its user and in a thread of its own. */
export type Part<Functions extends Calls> = {
  readonly calls: Functions;
  /** Begins nothing new, and waits until what is under way has ended, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

export type ThreadOptions = {
  /** Name of the thread in logs and metrics. */
  name: string;
  /** URL of the module that the thread runs. It calls `serveThread`. */
  module: URL;
  /**
   * Maximum size of the thread's old generation, for objects that live long. Buffers are outside of it: the part
   * bounds those.
   */
  heapMegabytes: number;
  /** True for a thread that the daemon cannot work without. It is not started again: its death is a failure, and the daemon ends. */
  isVital?: true;
  /** Returns the value that the thread starts with. It is called for each start, since ports can be used only once. */
  prepare(): { data: unknown; transfer: Transferable[] };
};

/** The parts of the main thread's system that a thread is connected with. */
export type ThreadSystem = Pick<System, 'clock' | 'log' | 'metrics' | 'wakeups'>;
