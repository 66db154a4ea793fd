/** The failed tasks on the control socket: pages behind a task, which are read by an index. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import type { FailedTasks } from '../../src/tasks/admin-api.ts';
import { listFailedTasks } from '../../src/tasks/read-store.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import { explain } from '../support/explain.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
const server = await createControlServer(world.app);
after(async () => {
  await server.close();
  await world.close();
});

const page = async (query: Record<string, string>): Promise<FailedTasks> =>
  (await server.inject({ url: `/tasks?${new URLSearchParams(query)}` })).json();

test('each page goes on behind the last task of the one before, also where ids have the sign between their parts', async () => {
  const ids = ['exports/a/1', 'exports/a/2', 'webhooks/a', 'webhooks/b'];
  for (const id of ids) {
    const [kind = '', ...reference] = id.split('/');
    const task = { kind, reference: reference.join('/'), queueKey: 'q', tenantId: null, attempts: 1 };
    insertRow(world, 'tasks', { ...task, dueAt: null, runId: null, error: 'It is broken' });
  }
  const seen: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const { tasks, next, hasMore }: FailedTasks = await page({ limit: '1', after });
    seen.push(...tasks.map(({ kind, reference }) => `${kind}/${reference}`));
    assert.equal(hasMore, next !== null);
    after = next;
  }
  assert.deepEqual(seen, ids);
  assert.equal((await server.inject({ url: '/tasks?limit=0' })).statusCode, 400);
});

test('a page is read by the index of failed tasks, without sorting', async () => {
  const plan = await explain((tx) => listFailedTasks(tx, { kind: 'webhooks', reference: 'a', limit: 31 }));
  assert.deepEqual(plan, ['SEARCH tasks USING INDEX tasksByError ((kind,reference)>(?,?))']);
});
