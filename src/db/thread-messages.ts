/**
 * Messages between the thread that uses databases and the database threads. A database thread serves several
 * databases; the client numbers them, and it numbers the requests to each.
 */
import type { MessagePort } from 'node:worker_threads';
import type { EncodedError } from '../system/encoded-error.ts';
import type { RequestedWakeups } from './commit-wakeups.ts';
import type { Synchronous } from './connection.ts';
import type { Schema } from './migrate.ts';

/** How a thread starts. */
export type ThreadOptions = {
  /** URL of the module whose import defines every operation. */
  operationsModule: string;
  /** Name of the armed crash point; undefined when none is armed. */
  crashAt?: string | undefined;
};

/** A database that a reader thread opens. */
export type ReadingOptions = { file: string };

/** A database that a writer thread opens, and creates when it does not exist. */
export type WritingOptions = {
  file: string;
  synchronous: Synchronous;
  schema: Schema;
  nowMs: number;
  /**
   * Set for the one database that belongs to a data directory (db/installation/). `newDatabase` is true when the
   * operator wants a new one where there is none.
   */
  installation?: { newDatabase: boolean };
  /** Memory of the TableChanges that the writer counts in. Only the main database has the tables. */
  changes?: SharedArrayBuffer;
};

/**
 * One operation to run. `sizeBytes` is the size of its input, as db/input-bytes.ts counts it. `given` is memory in the input that has moved
 * to the thread, which frees it once the operation was answered.
 */
export type Request = {
  id: number;
  operation: string;
  input: unknown;
  sizeBytes: number;
  given?: readonly ArrayBuffer[];
};

/** A message to a thread. `open` and `close` are answered like a request. */
export type ThreadMessage<Options> =
  | { kind: 'open'; database: number; id: number; options: Options }
  | { kind: 'run'; database: number; requests: readonly Request[] }
  | { kind: 'close'; database: number; id: number }
  /**
   * Connects another thread with a database of a writer thread. `run` arrives on the port, and is answered there. `load`
   * is the memory of a SharedLoad.
   */
  | { kind: 'connect'; database: number; port: MessagePort; load: SharedArrayBuffer }
  /**
   * Copies a database of a writer thread to a file (copy-database.ts). `pace` is the memory of a CopyPace. The end is
   * reported on the port, so that a copy of minutes does not count as a write that waits.
   */
  | { kind: 'copy'; database: number; file: string; pace: SharedArrayBuffer; port: MessagePort }
  /**
   * Begins to gather the pages of a database of a writer thread that change (wal-tap.ts), without those that were gathered before, or
   * ends that. It is answered like a request.
   */
  | { kind: 'follow'; database: number; id: number; isFollowed: boolean }
  /** Is answered with the pages that were gathered since the last time (changed-pages.ts). */
  | { kind: 'collect'; database: number; id: number }
  /** Ends the thread, whose databases are closed. */
  | { kind: 'end' };

/** The end of a copy. Without an error it is complete. */
export type CopyEnd = { error?: EncodedError };

export type Answer = { id: number; value: unknown } | { id: number; error: EncodedError };

/** A message from a thread. `failed` is the last one about a database that cannot be used any more. */
export type ThreadReply =
  | { kind: 'answers'; database: number; answers: readonly Answer[] }
  /** A write was refused because the disk is full. The main thread receives it for the writes of all threads. */
  | { kind: 'full'; database: number }
  /** Writes that are on disk now asked for these wake-ups. */
  | { kind: 'wakeups'; database: number; wakeups: RequestedWakeups }
  | { kind: 'failed'; database: number; error: EncodedError };
