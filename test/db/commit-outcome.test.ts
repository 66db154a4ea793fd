import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitOutcome } from '../../src/db/commit-outcome.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';

const write = { kind: 'write', name: 'test.outcome', run: async () => 0 } as const;

/** Commits an outcome while the disk is full for so long. Returns the number of attempts and what came of them. */
async function commitOnFullDisk(fullMs: number) {
  const clock = createFakeClock(0);
  const { log, lines } = recordLog();
  const full = clock.now() + fullMs;
  let attempts = 0;
  const db = {
    async commit() {
      attempts += 1;
      if (clock.now() < full) throw new Error('database or disk is full');
      return 'stored' as never;
    },
  };
  const result = commitOutcome({ db, clock, log }, write, undefined).catch((error: Error) => error.message);
  await clock.advance(3 * 60_000);
  return { attempts, result: await result, lines: lines.length };
}

test('an outcome that cannot be stored is kept, and stored when there is room again', async () => {
  assert.deepEqual(await commitOnFullDisk(0), { attempts: 1, result: 'stored', lines: 0 });
  assert.deepEqual(await commitOnFullDisk(6_000), { attempts: 5, result: 'stored', lines: 4 });
});

test('an outcome that cannot be stored for two minutes is given up', async () => {
  assert.deepEqual(await commitOnFullDisk(120_000), {
    ...{ attempts: 8, result: 'database or disk is full', lines: 7 },
  });
});
