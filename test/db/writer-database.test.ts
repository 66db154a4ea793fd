import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { migratedSchema } from '../../src/db/migrate.ts';
import { defineWrite } from '../../src/db/operation.ts';
import type { Request } from '../../src/db/thread-messages.ts';
import { GROUP_MS } from '../../src/db/write-group.ts';
import { WriterDatabase } from '../../src/db/writer-database.ts';
import { NOTE_MIGRATIONS } from './notes.ts';
import { temporaryDirectory } from './open.ts';

/** Answers with the memory that it was given. */
const echo = defineWrite('test.echo', async (_tx, bytes: Uint8Array) => bytes);

/** Uses up the time of its group. */
const tarry = defineWrite('test.tarry', async (_tx, _bytes: Uint8Array) => {
  const until = performance.now() + GROUP_MS;
  while (performance.now() < until);
});

test('memory that was given to a write is freed once its answer was sent, and not before it has run', async () => {
  const database = new WriterDatabase(
    {
      file: join(temporaryDirectory(), 'notes.db'),
      synchronous: 'FULL',
      schema: migratedSchema(NOTE_MIGRATIONS),
      nowMs: 0,
    },
    () => {},
  );
  const { port1 } = new MessageChannel();
  const requests = [tarry, echo].map(({ name }, index): Request => {
    const input = new Uint8Array(20_000).fill(index);
    return { id: index, operation: name, input, sizeBytes: input.length, given: [input.buffer] };
  });
  const isFreed = () => requests.map(({ given }) => given?.[0]?.detached);
  try {
    database.add(requests, port1);
    await database.runNextGroup();
    assert.deepEqual(isFreed(), [false, false]);
    database.freeGiven();
    assert.deepEqual(isFreed(), [true, false], 'the other write has not run');

    const answers = (await database.runNextGroup()).get(port1) ?? [];
    assert.deepEqual(structuredClone(answers), [{ id: 1, value: new Uint8Array(20_000).fill(1) }]);
    database.freeGiven();
    assert.deepEqual(isFreed(), [true, true]);
  } finally {
    database.close();
    port1.close();
  }
});
