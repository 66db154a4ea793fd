import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { openSealer } from '../../src/db/master-key.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';

const OTHER_KEY = 'ab'.repeat(32);

async function start(t: TestContext, directory: string): Promise<void> {
  const db = await openTestDatabase(t, { directory, readers: 0 });
  try {
    await openSealer(db, directory);
  } finally {
    await db.close();
  }
}

/** Removes the canary, as in a database of the version before. */
function withoutCanary(directory: string): void {
  const database = new Sqlite(join(directory, 'postrider.db'));
  database.exec('UPDATE installation SET canary = NULL');
  database.close();
}

function addSecret(directory: string, secretSealed: string): void {
  const database = new Sqlite(join(directory, 'postrider.db'));
  database.pragma('foreign_keys = OFF');
  database
    .prepare(
      `INSERT INTO inboundRoutes
         (id, tenantId, address, domain, destination, enabled, secretSealed, createdAt, updatedAt)
       VALUES ('rt_1', 'ten_1', 'a@b', 'b', 'https://b', 1, ?, 0, 0)`,
    )
    .run(secretSealed);
  database.close();
}

test('the key that sealed the canary opens it; another one, or none, is refused by name', async (t) => {
  const directory = temporaryDirectory();
  await start(t, directory);
  await start(t, directory);
  const file = join(directory, 'master.key');
  const key = readFileSync(file, 'utf8');
  for (const wrong of [OTHER_KEY, 'not a key']) {
    writeFileSync(file, wrong);
    await assert.rejects(start(t, directory), (error: Error) => {
      assert.equal(error.name, 'WrongKeyError');
      assert.ok(error.message.startsWith(file), error.message);
      assert.match(error.message, /restore (that|the) key/);
      return true;
    });
  }
  rmSync(file);
  await assert.rejects(start(t, directory), { name: 'MissingKeyError' });
  writeFileSync(file, key);
  await start(t, directory);
});

test('a database of the version before is checked with one of its sealed secrets', async (t) => {
  const directory = temporaryDirectory();
  const db = await openTestDatabase(t, { directory, readers: 0 });
  const sealed = (await openSealer(db, directory)).seal('secret', ['ten_1', 'rt_1']);
  await db.close();
  addSecret(directory, sealed);
  withoutCanary(directory);
  const file = join(directory, 'master.key');
  const key = readFileSync(file, 'utf8');
  writeFileSync(file, OTHER_KEY);
  await assert.rejects(start(t, directory), { name: 'WrongKeyError' });
  writeFileSync(file, key);
  await start(t, directory);
});

test('a first start that was cut short between the database and its key, or the key and its canary, goes on', async (t) => {
  const directory = temporaryDirectory();
  await (await openTestDatabase(t, { directory, readers: 0 })).close();
  await assert.doesNotReject(start(t, directory));
  withoutCanary(directory);
  await assert.doesNotReject(start(t, directory));
});
