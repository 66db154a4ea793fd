/** Checks emails in a thread that is terminated after a time limit, because their HTML may be large and hostile. */
import { AppError } from '../../system/errors.ts';
import { KillableThreads } from '../../system/killable-threads.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import type { CheckInput, CheckResult } from './check-message.ts';
import { Findings } from './findings.ts';

export type Checker = {
  /**
   * Checks an email of a tenant. HTML that cannot be read in time is a finding.
   * @throws AppError unavailable while other checks run
   */
  check(input: CheckInput, owner: string): Promise<CheckResult>;
  close(): Promise<void>;
};

/** Maximum time of one check. HTML of 2 MiB takes a fraction of a second. */
const JOB_TIMEOUT_MS = 2_000;
/** Maximum time that a check waits for the thread, which takes a second to start. */
const WAIT_TIMEOUT_MS = 5_000;
const RETRY_SECONDS = 2;

/** Returns the checker. Its thread starts when it is first needed. */
export function createChecker({ clock, log }: Pick<System, 'clock' | 'log'>): Checker {
  const threads = new KillableThreads<CheckInput, CheckResult>(clock, {
    module: moduleBeside(import.meta.url, 'check-thread'),
    // One thread, because people ask for checks one at a time.
    threads: 1,
    // Maximum number of waiting checks of one tenant, with up to 4 MiB of texts each.
    maxWaiting: 8,
    // Time below which a check counts as quick. A newsletter of 100 KB takes less.
    quickJobMs: 100,
    // Heap limit of the thread in MB. HTML of 2 MiB that consists of the shortest tags needs less than half of it.
    heapMegabytes: 128,
  });
  return {
    async check(input, owner) {
      const job = { owner, timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
      const outcome = await threads.run(input, job);
      if (outcome.kind === 'done') return outcome.result;
      const { reason, message: cause } = outcome;
      if (reason === 'crowded' || reason === 'closed')
        throw new AppError('unavailable', 'Other emails are being checked; try again', {
          cause,
          retryAfterSeconds: RETRY_SECONDS,
        });
      log.warn({ reason, cause, characters: input.html?.length ?? 0 }, 'an email could not be checked');
      const findings = new Findings();
      findings.add('html_too_complex');
      return { findings: findings.list(), links: { listed: [], omitted: 0 } };
    },
    close: () => threads.close(),
  };
}
