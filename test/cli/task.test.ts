/** `postrider task`: the operator sees background work that has failed, runs it again, and discards it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { findTask } from '../../src/tasks/store.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import { execute } from '../support/execute.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
const { app, tenantId } = world;
const control = await openControlSocket(app);
after(async () => {
  await control.close();
  await world.close();
});

async function run(args: string[], answers: Parameters<typeof fakeTerminal>[1] = {}) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: world.dataDir }, answers);
  const code = await runProgram(['task', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

const find = (reference: string) => findTask(app.db.read, { kind: 'webhooks', reference });
const FAILED = { kind: 'webhooks', queueKey: 'wh_1', attempts: 8, dueAt: null, runId: null };

test('failed tasks are listed with their last errors, and no others', async () => {
  assert.equal((await run(['list'])).output, 'No failed tasks.\n');
  insertRow(world, 'tasks', { ...FAILED, reference: 'a', tenantId, error: 'It is \u001b[1m broken' });
  insertRow(world, 'tasks', { ...FAILED, reference: 'b/c', tenantId: null, error: 'Again' });
  insertRow(world, 'tasks', { ...FAILED, reference: 'waits', tenantId, error: null, dueAt: clock.now() });
  const lines = (await run(['list'])).output.split('\n').map((line) => line.split(/ {2,}/));
  assert.deepEqual(lines, [
    ['ID', 'TENANT', 'ATTEMPTS', 'ERROR'],
    ['webhooks/a', 'default', '8', 'It is \ufffd[1m broken'],
    ['webhooks/b/c', '-', '8', 'Again'],
    [''],
  ]);
  const { tasks } = JSON.parse((await run(['list', '--json'])).output);
  assert.deepEqual(tasks[1], {
    ...{ kind: 'webhooks', reference: 'b/c', queueKey: 'wh_1', tenantId: null },
    ...{ attempts: 8, error: 'Again' },
  });
});

test('the list has all pages, however many tasks have failed', async () => {
  const references = Array.from({ length: 1_001 }, (_, index) => `many-${1_000 + index}`);
  execute(
    world,
    `INSERT INTO tasks (kind, reference, queueKey, attempts, error)
       SELECT 'exports', value, 'q', 8, 'No' FROM json_each('${JSON.stringify(references)}')`,
  );
  const { tasks } = JSON.parse((await run(['list', '--json'])).output);
  const listed = tasks.flatMap((task: { kind: string; reference: string }) =>
    task.kind === 'exports' ? [task.reference] : [],
  );
  assert.deepEqual(listed, references);
});

test('a failed task is due again with new attempts, and the engine is woken', async () => {
  const woken = Promise.withResolvers<unknown>();
  const stopListening = app.wakeups.listen('tasks', woken.resolve);
  assert.deepEqual(await run(['retry', 'webhooks/a']), {
    ...{ code: 0, output: 'Task webhooks/a is due again\n', errors: '' },
  });
  assert.deepEqual(await woken.promise, ['webhooks wh_1']);
  stopListening();
  const { dueAt, attempts, error } = (await find('a')) ?? {};
  assert.deepEqual([dueAt, attempts, error], [clock.now(), 0, null]);
});

test('a failed task is discarded when the operator confirms it', async () => {
  assert.equal((await run(['discard', 'webhooks/b/c', '--yes'])).code, 0);
  assert.equal(await find('b/c'), undefined);
});

test('tasks that have not failed, and wrong ids, are refused', async () => {
  for (const command of [['retry'], ['discard', '--yes']])
    for (const [id, error] of [
      ['webhooks/waits', /no failed task|not found/i],
      ['webhooks/none', /no failed task|not found/i],
      ['webhooks', /KIND\/REFERENCE/],
    ] as const) {
      const { code, errors } = await run([...command, id]);
      assert.ok(code > 0 && error.test(errors), errors);
    }
  assert.equal((await find('waits'))?.dueAt, clock.now());
});
