import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextSlice } from 'node:timers/promises';
import { JobOutbox } from '../../../src/system/killable-threads/outbox.ts';
import type { ToJobThread } from '../../../src/system/killable-threads/serve.ts';

type Posted = { ids: number[]; transfer: readonly unknown[] };

/** Returns an outbox with what its thread gets, cloned as a thread gets it, and the jobs that cannot be sent. */
function open() {
  const posted: Posted[] = [];
  const failed: [id: number, error: string][] = [];
  const worker = {
    postMessage(message: ToJobThread<unknown>, transfer: readonly ArrayBuffer[] = []) {
      structuredClone(message, { transfer: [...transfer] });
      if (message.kind === 'run') posted.push({ ids: message.jobs.map(({ id }) => id), transfer });
    },
  };
  const outbox = new JobOutbox<unknown>(worker as never, (id, error) => failed.push([id, String(error)]));
  const add = (id: number, input: unknown = `job ${id}`, transfer: ArrayBuffer[] = []) =>
    outbox.add({ id, input, transfer });
  return { posted, failed, add };
}

test('the jobs of one turn of the event loop share a message, with the memory that moves', async () => {
  const { posted, failed, add } = open();
  const [one, two] = [new ArrayBuffer(8), new ArrayBuffer(8)];
  add(1);
  add(2, one, [one]);
  add(3, two, [two]);
  assert.deepEqual(posted, [], 'nothing is sent within the turn');
  await nextSlice();
  assert.deepEqual(posted, [{ ids: [1, 2, 3], transfer: [one, two] }]);
  add(4);
  await nextSlice();
  assert.deepEqual(posted.slice(1), [{ ids: [4], transfer: [] }]);
  assert.deepEqual(failed, []);
});

test('a job whose input cannot be cloned fails alone, and the others of its turn are sent', async () => {
  const { posted, failed, add } = open();
  const memory = new ArrayBuffer(8);
  add(1);
  add(2, () => 'a function');
  add(3, memory, [memory]);
  await nextSlice();
  const ids = posted.map(({ ids }) => ids);
  assert.deepEqual(ids, [[1], [3]]);
  assert.deepEqual(posted[1]?.transfer, [memory]);
  assert.equal(failed.length, 1);
  assert.match(failed[0]?.join(' ') ?? '', /^2 DataCloneError: .*could not be cloned/);
  add(4);
  await nextSlice();
  assert.deepEqual(posted.at(-1)?.ids, [4], 'the outbox goes on');
});

test('memory that another job has moved already fails the second job alone', async () => {
  const { posted, failed, add } = open();
  const memory = new ArrayBuffer(8);
  add(1, memory, [memory]);
  add(2, memory, [memory]);
  await nextSlice();
  assert.deepEqual(
    posted.map(({ ids }) => ids),
    [[1]],
  );
  assert.deepEqual(
    failed.map(([id]) => id),
    [2],
  );
});
