import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ReaderPool } from '../../src/db/reader-pool.ts';
import { realClock } from '../../src/system/clock.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';
import { addPlan, countPlans } from './operations.ts';

const operationsModule = new URL('./operations.ts', import.meta.url).href;

test('readers that could not be started are started by the next read', async (t) => {
  const directory = temporaryDirectory();
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

test('a pool whose readers could not be started is closed like any other', async () => {
  const file = join(temporaryDirectory(), 'postrider.db');
  const pool = new ReaderPool(realClock, { operationsModule }, 2);
  const reading = assert.rejects(pool.open({ file }).run(countPlans.name, null));
  await pool.close();
  await reading;
});
