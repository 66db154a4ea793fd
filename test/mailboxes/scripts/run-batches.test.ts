/** Runs of scripts go to the threads in batches, each of one tenant, and each run has an outcome of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunBatches } from '../../../src/mailboxes/scripts/run-batches.ts';
import type { ScriptAnswer, ScriptJob, SentRun } from '../../../src/mailboxes/scripts/script-job.ts';
import type { ThreadOutcome } from '../../../src/system/killable-threads/serve.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

type Outcome = ThreadOutcome<ScriptAnswer>;

/** Returns a run that is known by its number. */
const runOf = (now: number) => ({ now }) as SentRun;
const failed = (reason: 'overran' | 'died' | 'crowded'): Outcome => ({
  kind: 'failed',
  reason,
  message: reason,
});

/** Returns the answer to the first of the runs, each of which has needed the folders. */
function ran(runs: readonly SentRun[], count = runs.length): Outcome {
  const results = runs.slice(0, count).map(() => ({ kind: 'needs', what: 'folders' }) as const);
  return { kind: 'done', result: { kind: 'ran', results } };
}

function openBatches(answer: (runs: readonly SentRun[]) => Outcome | Promise<Outcome>) {
  const clock = createFakeClock(0);
  /** Batches with their tenants and the numbers of their runs. */
  const sent: string[] = [];
  const batches = new RunBatches({
    clock,
    maxWaiting: 40,
    waitTimeoutMs: 1_000,
    async attempt(job: ScriptJob, owner) {
      if (job.kind !== 'run') return assert.fail();
      sent.push(`${owner} ${job.runs.map(({ now }) => now)}`);
      return await answer(job.runs);
    },
  });
  /** Returns the kinds or reasons of the outcomes, in the order of the runs. */
  const run = async (owner: string, ...numbers: number[]) =>
    Promise.all(
      numbers.map(async (number) => {
        const outcome = await batches.run(runOf(number), owner);
        return outcome.kind === 'done' ? outcome.result.kind : outcome.reason;
      }),
    );
  return { clock, sent, run };
}

test('runs of a tenant that come together go together, and those of others apart', async () => {
  const { sent, run } = openBatches(ran);
  const outcomes = await Promise.all([run('one', 1, 2), run('two', 3), run('one', 4)]);
  assert.deepEqual(outcomes, [['needs', 'needs'], ['needs'], ['needs']]);
  assert.deepEqual(sent, ['one 1,2,4', 'two 3']);
  await run('one', 5);
  assert.equal(sent.at(-1), 'one 5');
});

test('runs that come meanwhile wait for the next batch, and so do those for which the time did not suffice', async () => {
  const first = Promise.withResolvers<void>();
  const { sent, run } = openBatches(async (runs) => {
    await first.promise;
    return ran(runs, 2);
  });
  const early = run('one', 1, 2, 3);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const late = run('one', 4);
  first.resolve();
  assert.deepEqual(await Promise.all([early, late]), [['needs', 'needs', 'needs'], ['needs']]);
  assert.deepEqual(sent, ['one 1,2,3', 'one 3,4']);
});

test('a run that ends its thread fails alone, and a thread that is not free fails nobody for good', async () => {
  for (const reason of ['overran', 'died'] as const) {
    const { sent, run } = openBatches((runs) =>
      runs.some(({ now }) => now === 2) ? failed(reason) : ran(runs),
    );
    assert.deepEqual(await run('one', 1, 2, 3), ['needs', reason, 'needs']);
    assert.deepEqual(sent, ['one 1,2,3', 'one 1', 'one 2', 'one 3']);
  }
  const { sent, run } = openBatches(() => failed('crowded'));
  assert.deepEqual(await run('one', 1, 2), ['crowded', 'crowded']);
  assert.deepEqual(sent, ['one 1,2']);
});

test('a run waits for its batch for a limited time, beside a limited number of others', async () => {
  const { clock, sent, run } = openBatches(() => new Promise<Outcome>(() => {}));
  void run('one', 0);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.deepEqual(sent, ['one 0']);
  const waiting = Array.from({ length: 41 }, (_, index) => run('one', index + 1));
  assert.deepEqual(await waiting.at(-1), ['crowded']);
  await clock.advance(1_000);
  assert.deepEqual(await Promise.all(waiting), Array(41).fill(['crowded']));
  assert.deepEqual(sent, ['one 0']);
});
