import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { AppError } from '../../../src/system/errors.ts';
import { createPortCalls, servePortCalls } from '../../../src/system/thread/calls.ts';

type SampleCalls = {
  add(input: { a: number; b: number }): Promise<number>;
  refuse(text: string): Promise<void>;
  never(input: null): Promise<void>;
};

function open() {
  const { port1, port2 } = new MessageChannel();
  servePortCalls(port2, {
    add: async ({ a, b }: { a: number; b: number }) => a + b,
    refuse: async (text: string) => {
      throw new AppError('rate_limited', text);
    },
    never: () => new Promise(() => {}),
  });
  return { port1, port2, calls: createPortCalls<SampleCalls>(port1) };
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

test('functions of another thread are called over a port, and their refusals keep their codes', async () => {
  const { calls, port1 } = open();
  port1.ref();
  assert.equal(await Promise.resolve(calls), calls, 'the functions themselves are no promise');
  assert.deepEqual(await Promise.all([calls.add({ a: 1, b: 2 }), calls.add({ a: 3, b: 4 })]), [3, 7]);
  await assert.rejects(calls.refuse('slowly'), { code: 'rate_limited', message: 'slowly' });
  await assert.rejects(calls.add({ a: (() => 1) as never, b: 2 }), { name: 'DataCloneError' });
  port1.close();
});

test('when the other thread has gone, calls that wait and later ones are refused', async () => {
  const { calls, port1, port2 } = open();
  port1.ref();
  const waiting = calls.never(null);
  port2.close();
  // It may have been done, which `unavailable` would deny.
  await assert.rejects(waiting, { name: 'AppError', code: 'interrupted' });
  await assert.rejects(calls.add({ a: 1, b: 2 }), isUnavailable);
});
