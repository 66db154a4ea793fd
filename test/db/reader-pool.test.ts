import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ReaderPool } from '../../src/db/reader-pool.ts';
import { realClock } from '../../src/system/clock.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';
import { addPlan, countPlans, findThread, holdReader } from './operations.ts';

const operationsModule = new URL('./operations.ts', import.meta.url).href;

test('readers that could not be started are started by the next read', async (t) => {
  const directory = newDataDirectory();
  const db = await openTestDatabase(t, { directory });
  const plans = await db.commit(addPlan, 'a');
  await db.close();
  const file = join(directory, 'postrider.db');
  await rename(file, `${file}.away`);
  const pool = new ReaderPool(realClock, { operationsModule }, 2);
  const database = pool.open({ file });

  await assert.rejects(database.run(countPlans.name, null), { code: 'SQLITE_CANTOPEN' });
  await rename(`${file}.away`, file);

  assert.equal(await database.run(countPlans.name, null), plans);
  await pool.close();
});

test('a thread that could not load its code is started again by the next read', async (t) => {
  const directory = newDataDirectory();
  const db = await openTestDatabase(t, { directory });
  const module = join(directory, 'operations.mjs');
  const pool = new ReaderPool(realClock, { operationsModule: pathToFileURL(module).href }, 1);
  t.after(() => pool.close());
  const database = pool.open({ file: join(directory, 'postrider.db') });
  await assert.rejects(database.run(countPlans.name, null), { code: 'ERR_MODULE_NOT_FOUND' });
  await writeFile(module, `import ${JSON.stringify(operationsModule)};`);
  assert.equal(await database.run(countPlans.name, null), await db.query(countPlans, null));
  await database.close();
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

/** A pool of two threads over a database, the clock of its reads, and a read that lasts until a test ends it. */
async function openBusyPool(t: TestContext) {
  const directory = newDataDirectory();
  await (await openTestDatabase(t, { directory })).close();
  const file = join(directory, 'postrider.db');
  let now = 0;
  const pool = new ReaderPool({ elapsed: () => now }, { operationsModule }, 2);
  const database = pool.open({ file });
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const held = database.run(holdReader.name, flag);
  const release = () => {
    Atomics.store(flag, 0, 2);
    Atomics.notify(flag, 0);
    return held;
  };
  t.after(async () => {
    await release();
    await database.close();
    await pool.close();
  });
  await Atomics.waitAsync(flag, 0, 0).value;
  return {
    file,
    find: () => database.run(findThread.name, null),
    pass: (ms: number) => {
      now += ms;
    },
    release,
    /** Returns the number of connections to the database. */
    countConnections: () => openFiles().filter((path) => path === file).length,
  };
}

test('a read waits for a short one; behind a long one another thread starts, once', async (t) => {
  const { find, pass, release, countConnections } = await openBusyPool(t);
  pass(99);
  const patient = find();
  pass(1);
  const [second, third] = await Promise.all([find(), find()]);
  assert.equal(countConnections(), 2);
  const first = await release();
  assert.deepEqual([await patient, third], [first, second]);
  assert.notEqual(second, first);
});

test('reads wait for a long one when no other thread can start', async (t) => {
  const { file, find, pass, release } = await openBusyPool(t);
  pass(100);
  await rename(file, `${file}.away`);
  const patient = find();
  // A thread that is asked later has found no file, too.
  const other = new ReaderPool(realClock, { operationsModule }, 1);
  await assert.rejects(other.open({ file }).run(findThread.name, null), { code: 'SQLITE_CANTOPEN' });
  await other.close();
  assert.equal(await release(), await patient);
});

test('a pool whose readers could not be started is closed like any other', async () => {
  const file = join(temporaryDirectory(), 'postrider.db');
  const pool = new ReaderPool(realClock, { operationsModule }, 2);
  const reading = assert.rejects(pool.open({ file }).run(countPlans.name, null));
  await pool.close();
  await reading;
});
