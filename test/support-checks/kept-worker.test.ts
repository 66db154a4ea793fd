import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from '../support/kept-worker.ts';

const MODULE = new URL('./samples/database-thread.ts', import.meta.url);

/** Returns the first message of a thread, and the worker. */
async function start(operationsModule: string, name: string) {
  const worker = new Worker(MODULE, { workerData: { operationsModule, name } });
  const [greeting] = await once(worker, 'message');
  return { worker, greeting };
}

test('a thread that has been closed serves the next start, with its own data', async () => {
  const first = await start('one', 'first');
  first.worker.postMessage('close');
  await once(first.worker, 'exit');
  const second = await start('one', 'second');
  const third = await start('one', 'third');
  const other = await start('two', 'other');
  assert.deepEqual([first.greeting.name, second.greeting.name], ['first', 'second']);
  assert.equal(second.greeting.threadId, first.greeting.threadId);
  const threadIds = [second, third, other].map(({ greeting }) => greeting.threadId);
  assert.equal(new Set(threadIds).size, 3, 'threads in use, and those of other operations, are not shared');
  for (const { worker } of [second, third, other]) {
    worker.postMessage('close');
    await once(worker, 'exit');
  }
  const late = await start('three', 'late');
  assert.ok(!threadIds.includes(late.greeting.threadId), 'an idle thread of other operations is not used');
  late.worker.postMessage('close');
  await once(late.worker, 'exit');
});

test('an error ends the thread, and no later start meets it', async () => {
  const first = await start('failing', 'first');
  // Node may report the error and the end of a thread in one turn, so both are awaited from the beginning.
  const failed = new Promise<Error>((resolve) => first.worker.once('error', resolve));
  const ended = new Promise<void>((resolve) => first.worker.once('exit', () => resolve()));
  first.worker.postMessage('fail');
  assert.equal((await failed).message, 'asked to fail');
  await ended;
  const second = await start('failing', 'second');
  assert.notEqual(second.greeting.threadId, first.greeting.threadId);
  second.worker.postMessage('close');
  await once(second.worker, 'exit');
});
