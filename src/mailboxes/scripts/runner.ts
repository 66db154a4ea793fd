/**
 * Checks and runs Sieve scripts in threads that are ended after a second: the steps of a run are counted, but what a person writes must
 * not stop the mail of others even where a step takes long.
 */
import type { ThreadOutcome } from '../../system/killable-threads/serve.ts';
import { KillableThreads } from '../../system/killable-threads.ts';
import { createLru } from '../../system/lru.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import type { NamedScript } from './named-script.ts';
import { RunBatches } from './run-batches.ts';
import type { RunJob, ScriptAnswer, ScriptJob, ScriptResult, SentRun, SentScript } from './script-job.ts';

/** The result of a run; `busy` when it can be repeated later. A script that takes too long has failed. */
type RunResult = Exclude<ScriptResult, { kind: 'unknown' }> | { kind: 'busy'; reason: string };

export type ScriptRunner = {
  /** Runs scripts. `owner` is the tenant: tenants are served in turns. */
  run(job: RunJob, owner: string): Promise<RunResult>;
  /**
   * Returns what is wrong with a script, each error in a line with its line and column; undefined when it is correct. `owner` is the
   * tenant.
   */
  findProblem(content: string, owner: string): Promise<string | undefined>;
  close(): Promise<void>;
};

/** Number of threads: two, so that one script that takes long does not delay all others. */
const THREADS = 2;
/** Time that a job waits before the second thread starts, in milliseconds. A thread takes about as long to start. */
const GROW_AFTER_MS = 150;
/** Maximum time of a job. A script of 100 rules takes less than a millisecond. */
const JOB_TIMEOUT_MS = 1_000;
/**
 * Maximum time that a job waits for a thread, and a run for its job, in milliseconds. After it a message waits with its mailbox, and an owner
 * is told to try again.
 */
const WAIT_TIMEOUT_MS = 10_000;
/** Maximum number of waiting jobs, and of waiting runs, of one tenant: more than messages that are delivered at the same time. */
const MAX_WAITING = 200;
/** Time below which a job counts as quick. */
const QUICK_JOB_MS = 50;
/** Heap limit of a thread, which holds compiled scripts. The message is outside of it. */
const HEAP_MEGABYTES = 128;
/** Maximum number of scripts that are known to be compiled. */
const MAX_COMPILED = 10_000;
/** A machine that is busy may stop a thread for a second, so a script has failed when it was too slow twice. */
const ATTEMPTS = 2;

/** Returns the runner, with its own threads, which start when they are first needed. */
export function createScriptRunner(system: Pick<System, 'clock'>): ScriptRunner {
  const threads = new KillableThreads<ScriptJob, ScriptAnswer>(system.clock, {
    module: moduleBeside(import.meta.url, 'script-thread'),
    threads: THREADS,
    growAfterMs: GROW_AFTER_MS,
    maxWaiting: MAX_WAITING,
    quickJobMs: QUICK_JOB_MS,
    heapMegabytes: HEAP_MEGABYTES,
  });

  /** Tenants with the keys of scripts that a thread has compiled for them. */
  const compiled = createLru<string, true>(MAX_COMPILED);

  function send(job: RunJob, owner: string, { isComplete = false } = {}): SentRun {
    const sendOne = ({ name, key, content }: NamedScript): SentScript => ({
      name,
      key,
      content: compiled.has(`${owner} ${key}`) && !isComplete ? undefined : content,
    });
    return { ...job, owner, scripts: job.scripts.map(sendOne), included: job.included.map(sendOne) };
  }

  async function attempt(job: ScriptJob, owner: string): Promise<ThreadOutcome<ScriptAnswer>> {
    const options = { owner, timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
    // Runs that were too slow together have their attempts alone.
    const attempts = job.kind === 'run' && job.runs.length > 1 ? 1 : ATTEMPTS;
    for (let left = attempts; ; left--) {
      const outcome = await threads.run(job, options);
      const isTooSlow = outcome.kind === 'failed' && outcome.reason === 'overran';
      if (!isTooSlow || left === 1) return outcome;
    }
  }

  const { clock } = system;
  const batches = new RunBatches({
    clock,
    attempt,
    maxWaiting: MAX_WAITING,
    waitTimeoutMs: WAIT_TIMEOUT_MS,
  });

  return {
    async run(job, owner) {
      const sent = send(job, owner);
      let outcome = await batches.run(sent, owner);
      // Another thread has compiled the scripts, or this one has forgotten them.
      if (outcome.kind === 'done' && outcome.result.kind === 'unknown')
        outcome = await batches.run(send(job, owner, { isComplete: true }), owner);
      if (outcome.kind === 'done') {
        const { result } = outcome;
        if (result.kind === 'unknown') throw new Error(`a run was answered: ${result.kind}`);
        for (const { key } of [...sent.scripts, ...sent.included]) compiled.set(`${owner} ${key}`, true);
        return result;
      }
      if (isBusy(outcome)) return { kind: 'busy', reason: outcome.message };
      const script = job.scripts.at(-1)?.name ?? '';
      const failure = { script, line: 0, message: messageOf(outcome) };
      return { kind: 'failed', failure, remembered: [] };
    },
    async findProblem(content, owner) {
      const outcome = await attempt({ kind: 'check', content }, owner);
      if (outcome.kind === 'done' && outcome.result.kind === 'checked') return outcome.result.problem;
      if (outcome.kind === 'failed' && isBusy(outcome)) return 'The server is busy; try again later';
      return 'The script takes too long to check';
    },
    close: () => threads.close(),
  };
}

type Failure = Extract<ThreadOutcome<never>, { kind: 'failed' }>;

function isBusy({ reason }: Failure): boolean {
  return reason === 'crowded' || reason === 'closed';
}

function messageOf({ reason }: Failure): string {
  return reason === 'overran' ? `it takes more than ${JOB_TIMEOUT_MS} ms` : 'it could not be run';
}
