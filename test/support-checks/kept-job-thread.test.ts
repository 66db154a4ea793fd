import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from '../support/kept-job-thread.ts';

const LAYOUT = new URL('../../src/mail/message/html-text-thread.ts', import.meta.url);
const SAMPLE = new URL('../system/killable-thread-sample.ts', import.meta.url);

/** Starts a thread, and returns it when it is ready. */
async function start(module: URL): Promise<Worker> {
  const worker = new Worker(module, {});
  assert.deepEqual(await once(worker, 'message'), [{ kind: 'ready' }]);
  return worker;
}

async function layOut(worker: Worker, html: string): Promise<unknown> {
  worker.postMessage({ kind: 'run', jobs: [{ id: 1, input: html }] });
  const [{ outcomes }] = (await once(worker, 'message')) as [
    { outcomes: { outcome: { result: unknown } }[] },
  ];
  return outcomes[0]?.outcome.result;
}

/** Terminates a thread. Resolves when the end was reported to its owner, with the id that the thread then has. */
async function end(worker: Worker): Promise<number> {
  const ended = once(worker, 'exit');
  await worker.terminate();
  await ended;
  return worker.threadId;
}

test('a thread that is terminated while idle serves the next start, and its former owner hears nothing', async () => {
  const first = await start(LAYOUT);
  assert.equal(await layOut(first, '<p>one'), 'one');
  const { threadId } = first;
  await end(first);
  const heard: unknown[] = [];
  first.on('message', (message) => heard.push(message));
  const second = await start(LAYOUT);
  assert.equal(second.threadId, threadId);
  const third = await start(LAYOUT);
  assert.notEqual(third.threadId, threadId, 'a thread in use is not shared');
  assert.equal(await layOut(second, '<p>two'), 'two');
  assert.deepEqual(heard, []);
  await end(second);
  await end(third);
});

test('a thread that is terminated during a job ends, and so do the threads of other modules', async () => {
  const busy = await start(LAYOUT);
  busy.postMessage({ kind: 'run', jobs: [{ id: 1, input: '<p>three' }] });
  assert.equal(await end(busy), -1);
  const sample = await start(SAMPLE);
  assert.equal(await end(sample), -1);
});
