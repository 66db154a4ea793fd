import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createMetrics } from '../../src/system/metrics.ts';
import { scheduleTask } from '../../src/tasks/store.ts';
import { moveTasks, watchTasks } from '../../src/tasks/upkeep.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const NOW = 1_000_000;
const { tx, close } = openMemoryDatabase();
after(close);

const run = async (operation: { run(on: typeof tx, input: never): Promise<unknown> }, input: unknown) =>
  operation.run(tx, input as never) as never;
const db = { read: tx, commit: run, query: run } as unknown as Parameters<typeof moveTasks>[0];

test('tasks are counted by kind, and move with the clock', async () => {
  const clock = createFakeClock(NOW);
  const metrics = createMetrics(clock);
  watchTasks({ metrics, db, clock });
  for (const [reference, tenantId, dueAt] of [
    ['a', 'ten_1', NOW - 7_000],
    ['b', 'ten_2', NOW + 90_000],
  ] as const)
    await scheduleTask(tx, { kind: 'kind', reference, queueKey: 'q', tenantId, dueAt });
  const text = async () => (await metrics.show()).text;
  assert.match(await text(), /tasks_waiting\{kind="kind"\} 2/);
  assert.match(await text(), /tasks_failed\{kind="kind"\} 0/);
  assert.match(await text(), /tasks_oldest_due_seconds\{kind="kind"\} 7\n/);
  await moveTasks(db, { now: NOW, setBackMs: 60_000 });
  const times = await tx.selectFrom('tasks').select(['reference', 'dueAt']).orderBy('reference').execute();
  assert.deepEqual(times, [
    { reference: 'a', dueAt: NOW - 7_000 },
    { reference: 'b', dueAt: NOW + 30_000 },
  ]);
});
