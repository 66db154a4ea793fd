/**
 * Reads reports in a thread that is ended when one takes too long: they come from strangers, are packed, and are much larger when
 * unpacked.
 */
import { KillableThreads } from '../../system/killable-threads.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import type { Report } from './report.ts';

/** The result of reading: a report, no report that could be read, or no time for it now. */
type Reading = { kind: 'report'; report: Report } | { kind: 'unreadable' } | { kind: 'busy' };

export type ReportReader = {
  /**
   * Reads the report in a message. The memory of the message is used up.
   * @param owner whose reports are served round-robin with those of others, such as the registered domain of the reporter
   */
  read(message: Uint8Array<ArrayBuffer>, owner: string): Promise<Reading>;
  close(): Promise<void>;
};

/** Maximum time of one report. One of 10 MB takes about a second. */
const JOB_TIMEOUT_MS = 10_000;
/** Maximum time that a report waits for the thread. Its task is tried again later. */
const WAIT_TIMEOUT_MS = 30_000;

/** Returns the reader, with its own thread, which starts when it is first needed. */
export function createReportReader({ clock, log }: Pick<System, 'clock' | 'log'>): ReportReader {
  const threads = new KillableThreads<Uint8Array, Report | null>(clock, {
    module: moduleBeside(import.meta.url, 'report-thread'),
    // One thread: reports are not urgent.
    threads: 1,
    // Maximum number of waiting reports of one owner.
    maxWaiting: 64,
    // Time below which a report counts as quick. One of a megabyte takes less.
    quickJobMs: 500,
    // Heap limit of the thread. A report of 10 MB is 20 MB as text, and as much again while it is read.
    heapMegabytes: 192,
  });
  return {
    async read(message, owner) {
      const sizeBytes = message.length;
      const limits = { owner, timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
      const outcome = await threads.run(message, { ...limits, transfer: [message.buffer] });
      if (outcome.kind === 'done')
        return outcome.result ? { kind: 'report', report: outcome.result } : { kind: 'unreadable' };
      const { reason, message: cause } = outcome;
      if (reason === 'crowded' || reason === 'closed') return { kind: 'busy' };
      log.warn({ reason, cause, owner, sizeBytes }, 'a report could not be read');
      return { kind: 'unreadable' };
    },
    close: () => threads.close(),
  };
}
