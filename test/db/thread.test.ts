import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseThread } from '../../src/db/thread.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** Starts a thread whose operations are this code. Returns what it reports of its end. */
async function endOf(operations: string): Promise<string> {
  const operationsModule = `data:text/javascript,${encodeURIComponent(operations)}`;
  const started = DatabaseThread.start(createFakeClock(0), 'reader-thread', { operationsModule });
  const { message } = await started.then(
    async (thread) => {
      const error = await thread.failed;
      await thread.close();
      return error;
    },
    (error: Error) => error,
  );
  return message;
}

test('a thread that cannot load its operations rejects with their error', async () => {
  assert.equal(await endOf("throw new Error('broken operations')"), 'broken operations');
});

test('a thread that ends in the turn in which it has started is reported, and can be closed', async () => {
  // Whether the caller still sees the start depends on which of the two messages Node delivers first.
  for (const moment of ['setImmediate(() => process.exit())', 'queueMicrotask(() => process.exit())'])
    assert.equal(await endOf(moment), 'the database thread has ended', moment);
});
