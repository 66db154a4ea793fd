import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openPrivate } from '../../src/db/connection.ts';
import { migratedSchema } from '../../src/db/migrate.ts';
import { defineWrite, type Tx } from '../../src/db/operation.ts';
import { openPrivateDatabase } from '../../src/db/private-database.ts';
import { WalFlush } from '../../src/db/wal-flush.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Words = { words: { text: string } };

const schema = migratedSchema([{ id: '1', sql: 'CREATE TABLE words (text TEXT NOT NULL) STRICT' }]);

const addWord = defineWrite('test.addWord', async (tx: Tx<Words>, text: string) => {
  await tx.insertInto('words').values({ text }).execute();
});

/** Opens a database, and notes in `order` which WAL is flushed. Flushes throw `error`, if there is one. */
function open(
  t: TestContext,
  order: string[],
  { isDurable = true, error }: { isDurable?: boolean; error?: Error } = {},
) {
  const file = join(temporaryDirectory('wal-flush'), 'x.db');
  const descriptors = new Map<number, string>();
  const openSync = fs.openSync;
  t.mock.method(fs, 'openSync', (path: string, flags: string) => {
    const descriptor = openSync(path, flags);
    descriptors.set(descriptor, path);
    return descriptor;
  });
  t.mock.method(fs, 'fdatasyncSync', (descriptor: number) => {
    if (error) throw error;
    order.push(descriptors.get(descriptor) === `${file}-wal` ? 'flushed' : 'another file');
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const system = { clock: createFakeClock(0), crashPoint: () => {} };
  return openPrivateDatabase<Words>(system, { file, schema, nowMs: 0, isDurable });
}

test('frames that a commit has added are flushed once, also when the WAL begins anew with as many', (t) => {
  const database = openPrivate(join(temporaryDirectory('wal-flush'), 'x.db'));
  t.after(() => database.close());
  const flushed: string[] = [];
  const flush = new WalFlush(database, (path) => flushed.push(path));
  assert.equal(database.pragma('synchronous', { simple: true }), 1);
  flush.flush();
  assert.deepEqual(flushed, [], 'a new WAL has nothing that could be lost');

  database.exec('CREATE TABLE words (text TEXT)');
  flush.flush();
  assert.deepEqual(flushed, [`${database.name}-wal`]);
  database.exec('BEGIN IMMEDIATE; COMMIT');
  flush.flush();
  assert.equal(flushed.length, 1);

  const addWord = () => database.exec("INSERT INTO words VALUES ('a')");
  database.pragma('wal_checkpoint(TRUNCATE)');
  addWord();
  flush.flush();
  assert.equal(flushed.length, 2);
  const { state } = flush;
  flush.forget();
  database.pragma('wal_checkpoint(PASSIVE)');
  addWord();
  flush.flush();
  assert.equal(flushed.length, 3);
  assert.deepEqual(flush.state, state);
});

test('without a free descriptor SQLite flushes the WAL, and copies it back', (t) => {
  const database = openPrivate(join(temporaryDirectory('wal-flush'), 'x.db'));
  t.after(() => database.close());
  let code = 'EMFILE';
  const flush = new WalFlush(database, () => {
    throw Object.assign(new Error('too many open files'), { code });
  });
  database.exec('CREATE TABLE words (text TEXT)');
  flush.flush();
  const [state] = database.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
  assert.ok(state && state.log > 0);
  assert.equal(state.checkpointed, state.log);
  // The next commit begins the WAL anew, and is flushed as well.
  database.exec("INSERT INTO words VALUES ('a')");
  flush.flush();
  assert.equal(flush.state, undefined);
  code = 'EIO';
  database.exec("INSERT INTO words VALUES ('b')");
  assert.throws(() => flush.flush(), /too many open files/);
});

test('a write of a private database is on disk before anybody learns of it', async (t) => {
  const order: string[] = [];
  const db = open(t, order);
  await db.commit(addWord, 'a', () => order.push('committed'));
  order.push('answered');
  assert.deepEqual(order, ['flushed', 'committed', 'answered']);
  await db.close();
});

test('every commit after a checkpoint or other work on the connection is flushed', async (t) => {
  const order: string[] = [];
  const db = open(t, order);
  for (let count = 0; count < 3; count++) {
    await db.commit(addWord, 'a');
    await db.maintain((connection) => connection.pragma('wal_checkpoint(PASSIVE)'));
  }
  assert.deepEqual(order, ['flushed', 'flushed', 'flushed']);
  await db.close();
});

test('a database that need not be durable is not flushed', async (t) => {
  const order: string[] = [];
  const db = open(t, order, { isDurable: false });
  await db.commit(addWord, 'a');
  assert.deepEqual(order, []);
  await db.close();
});

test('a flush that fails ends the process, whatever its error, before anybody learns of the commit', async (t) => {
  for (const code of ['EIO', 'ENOSPC', 'EDQUOT']) {
    const order: string[] = [];
    const db = open(t, order, { error: Object.assign(new Error('from the disk'), { code }) });
    t.mock.method(fs, 'writeSync', () => 0);
    t.mock.method(process, 'kill', (_pid: number, signal: string) => {
      order.push(signal);
      throw new Error('the process has ended');
    });
    syncBuiltinESMExports();
    await assert.rejects(
      db.commit(addWord, 'a', () => order.push('committed')),
      /the process has ended/,
    );
    assert.deepEqual(order, ['SIGKILL'], code);
    t.mock.restoreAll();
    syncBuiltinESMExports();
    await db.close();
  }
});
