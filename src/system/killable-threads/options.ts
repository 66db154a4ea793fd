/** The options of a pool of killable threads (killable-threads.ts) and of its jobs. */

export type KillableThreadsOptions = {
  /** URL of the module that the threads run. It calls `serveJobs`. */
  module: URL;
  /** Plain data that each thread finds as `workerData`. */
  data?: unknown;
  /** Maximum number of threads. */
  threads: number;
  /**
   * Time in milliseconds that a job waits before a thread is started beside those that are busy. It is 0 unless it is given, which
   * starts a thread with the job. A longer time saves the memory of a thread that only short bursts would use.
   */
  growAfterMs?: number;
  /**
   * Maximum number of jobs that one thread runs at a time, 1 unless it is given. More of them need a module whose jobs
   * return promises.
   */
  jobsPerThread?: number;
  /** Maximum number of waiting jobs of one owner. */
  maxWaiting: number;
  /** Idle time after which a thread is terminated, in milliseconds; a minute unless it is given. */
  idleTimeoutMs?: number;
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
