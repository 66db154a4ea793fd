/** Writes and reads for the tests of src/db, on the plainest tables of the schema. Loaded by its threads too. */
import { threadId } from 'node:worker_threads';
import { sql } from 'kysely';
import { wakeAfterCommit } from '../../src/db/commit-wakeups.ts';
import { defineRead, defineWrite, type Tx } from '../../src/db/operation.ts';
import { AppError, type AppErrorOptions } from '../../src/system/errors.ts';
import './notes.ts';

export const addPlan = defineWrite('test.addPlan', async (tx, name: string) => {
  await tx
    .insertInto('plans')
    .values({ name, monthlyEmails: 1, requestsPerSecond: null, createdAt: 0, weight: 1 })
    .execute();
  return countRows(tx);
});

export const addTwoPlans = defineWrite('test.addTwoPlans', async (tx, name: string) => {
  await addPlan.run(tx, name);
  await addPlan.run(tx, `${name}, again`);
});

/** Returns the number of the thread that runs it. */
export const findThread = defineRead('test.findThread', async (_tx, _input: null) => threadId);

/** Returns the number of its thread, which it blocks: `flag` is 1 when it has begun, and 2 when it shall end. */
export const holdReader = defineRead('test.holdReader', async (_tx, flag: Int32Array<SharedArrayBuffer>) => {
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
  Atomics.wait(flag, 0, 1);
  return threadId;
});

/** Writes, and then refuses. */
export const refuse = defineWrite(
  'test.refuse',
  async (tx, refusal: { name: string; message: string; options: AppErrorOptions }) => {
    await addPlan.run(tx, refusal.name);
    throw new AppError('domain_in_use', refusal.message, refusal.options);
  },
);

export const stumble = defineWrite('test.stumble', async (tx, name: string) => {
  await addPlan.run(tx, name);
  throw new TypeError('a bug in a write');
});

/** Its result cannot cross between threads. */
export const answerWithFunction = defineWrite('test.answerWithFunction', async (tx, name: string) => {
  await addPlan.run(tx, name);
  return () => name;
});

/** Stores a blob, and asks for a wake-up. */
export const addBlobAndWake = defineWrite('test.addBlobAndWake', async (tx, id: string) => {
  wakeAfterCommit('blobs', id);
  await addBlob.run(tx, { id, sizeBytes: 1 });
});

export const addBlob = defineWrite('test.addBlob', async (tx, blob: { id: string; sizeBytes: number }) => {
  await tx
    .insertInto('blobs')
    .values({
      id: `blob_${blob.id}`,
      sha256: blob.id,
      sizeBytes: blob.sizeBytes,
      eightBit: 0,
      data: Buffer.alloc(blob.sizeBytes, 7),
      createdAt: 0,
    })
    .execute();
});

/** Takes bytes, and keeps none. */
export const weigh = defineWrite(
  'test.weigh',
  async (_tx, input: { body: { bytes: Uint8Array } }) => input.body.bytes.length,
);

/** A full disk without one: SQLite answers SQLITE_FULL beyond this many pages. Null takes the limit away. */
export const limitPages = defineWrite('test.limitPages', async (tx, more: number | null) => {
  const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(tx);
  const limit = more === null ? 4_294_967_294 : (rows[0]?.page_count ?? 0) + more;
  await sql.raw(`PRAGMA max_page_count = ${limit}`).execute(tx);
});

export const countPlans = defineRead('test.countPlans', (tx, _input: null) => countRows(tx));

/** Its result cannot cross between threads. */
export const readFunction = defineRead('test.readFunction', async (_tx, name: string) => () => name);

export const readSynchronous = defineWrite('test.readSynchronous', (tx, _input: null) => synchronous(tx));

export const readSynchronousOfReader = defineRead('test.readSynchronousOfReader', (tx, _input: null) =>
  synchronous(tx),
);

export const writeInRead = defineRead('test.writeInRead', (tx, name: string) => addPlan.run(tx, name));

export const missingInThreads = { kind: 'write', name: 'test.nowhere', run: async () => 0 } as const;

async function synchronous(tx: Tx): Promise<number | undefined> {
  return (await sql<{ synchronous: number }>`PRAGMA synchronous`.execute(tx)).rows[0]?.synchronous;
}

async function countRows(tx: Tx): Promise<number> {
  const row = await tx
    .selectFrom('plans')
    .select((one) => one.fn.countAll<number>().as('n'))
    .executeTakeFirst();
  return row?.n ?? 0;
}
