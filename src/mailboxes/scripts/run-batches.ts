/**
 * Hands runs of scripts to the threads, those of a tenant that wait at the same time together. Two threads that wake each other for each
 * message take longer than most scripts, and messages that go on together are stored in one commit. Tenants never share a batch, so that
 * a script that takes long delays those of its own tenant alone.
 */
import type { Clock, Timer } from '../../system/clock.ts';
import type { ThreadOutcome } from '../../system/killable-threads/serve.ts';
import { nextSlice } from '../../system/slices.ts';
import type { ScriptAnswer, ScriptJob, ScriptResult, SentRun } from './script-job.ts';

type Failed = Extract<ThreadOutcome<never>, { kind: 'failed' }>;
type RunOutcome = { kind: 'done'; result: ScriptResult } | Failed;

type Options = {
  clock: Pick<Clock, 'after'>;
  /** Runs a job in a thread. `owner` is the tenant. */
  attempt(job: ScriptJob, owner: string): Promise<ThreadOutcome<ScriptAnswer>>;
  /** Maximum number of waiting runs of one tenant. */
  maxWaiting: number;
  /** Maximum time that a run waits for its batch, in milliseconds. */
  waitTimeoutMs: number;
};

type Waiting = { run: SentRun; timer: Timer; settle(outcome: RunOutcome): void };

/** Maximum number of runs in a batch: that of messages which are delivered at the same time. */
const MAX_BATCH = 32;

export class RunBatches {
  readonly #options: Options;
  /** Runs that wait, of each tenant that has a batch in a thread or is about to. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Runs scripts in a thread. It never rejects because of the scripts. */
  run(run: SentRun, owner: string): Promise<RunOutcome> {
    const { clock, maxWaiting, waitTimeoutMs } = this.#options;
    const others = this.#waiting.get(owner);
    if (others && others.length >= maxWaiting)
      return Promise.resolve(crowded(`${others.length} runs are waiting`));
    return new Promise((settle) => {
      const timer = clock.after(waitTimeoutMs, () => {
        this.#remove(owner, waiting);
        settle(crowded(`no batch of its tenant has ended for ${waitTimeoutMs} ms`));
      });
      const waiting: Waiting = { run, timer, settle };
      if (others) others.push(waiting);
      else void this.#serve(owner, waiting);
    });
  }

  #remove(owner: string, one: Waiting): void {
    const all = this.#waiting.get(owner) ?? [];
    if (all.includes(one)) all.splice(all.indexOf(one), 1);
  }

  async #serve(owner: string, first: Waiting): Promise<void> {
    const waiting = [first];
    this.#waiting.set(owner, waiting);
    // The runs of this turn go together.
    await nextSlice();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      for (const { timer } of batch) timer.cancel();
      waiting.unshift(...(await this.#runBatch(owner, batch)));
    }
    this.#waiting.delete(owner);
  }

  /** Runs a batch, and returns those runs for which its time has not sufficed. */
  async #runBatch(owner: string, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const outcome = await this.#options.attempt({ kind: 'run', runs: batch.map(({ run }) => run) }, owner);
    if (outcome.kind === 'done') {
      const { result: answer } = outcome;
      if (answer.kind !== 'ran') throw new Error(`runs were answered: ${answer.kind}`);
      for (const [index, result] of answer.results.entries()) batch[index]?.settle({ kind: 'done', result });
      return batch.slice(answer.results.length);
    }
    if (batch.length === 1 || outcome.reason === 'crowded' || outcome.reason === 'closed')
      for (const { settle } of batch) settle(outcome);
    // Any of the runs may be the cause.
    else await Promise.all(batch.map((one) => this.#runBatch(owner, [one])));
    return [];
  }
}

function crowded(message: string): Failed {
  return { kind: 'failed', reason: 'crowded', message };
}
