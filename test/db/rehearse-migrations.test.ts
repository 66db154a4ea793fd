import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../src/db/connection.ts';
import { lockDirectory } from '../../src/db/lock.ts';
import { migrate, migratedSchema } from '../../src/db/migrate.ts';
import { rehearseMigrations } from '../../src/db/rehearse-migrations.ts';
import { realClock } from '../../src/system/clock.ts';
import { statDisk } from '../../src/system/disk-space.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const FIRST = { id: '0001-first', sql: 'CREATE TABLE notes (text TEXT) STRICT' };
const SECOND = { id: '0002-second', sql: 'ALTER TABLE notes ADD COLUMN at INTEGER' };
const THIRD = { id: '0003-third', sql: "UPDATE notes SET at = 1 WHERE text = 'last'" };
const OLD = migratedSchema([FIRST]);
const NEW = migratedSchema([FIRST, SECOND, THIRD]);
const SYSTEM = { clock: realClock, statDisk };

/** Returns the data directory of an older version, and its connection that writes. */
function oldDatabase() {
  const directory = temporaryDirectory('old');
  const database = openWriting(join(directory, 'postrider.db'), 'FULL');
  migrate(database, 0, OLD);
  database.exec("INSERT INTO notes VALUES ('last')");
  return { directory, database };
}

const idsIn = (directory: string) => {
  const database = openWriting(join(directory, 'postrider.db'), 'FULL');
  try {
    return database.prepare('SELECT id FROM migrations').pluck().all();
  } finally {
    database.close();
  }
};

test('each migration is applied to a copy and timed, and nothing is changed or left behind', async () => {
  const { directory, database } = oldDatabase();
  database.close();
  const before = readFileSync(join(directory, 'postrider.db'));
  const found = await rehearseMigrations(SYSTEM, { directory, scratchIn: directory, schema: NEW });
  assert.deepEqual(
    found.migrations.map(({ id }) => id),
    [SECOND.id, THIRD.id],
  );
  assert.ok(found.migrations.every(({ tookMs }) => tookMs >= 0) && found.migrationMs > 0);
  assert.equal(found.bytes, before.length);
  assert.deepEqual(readFileSync(join(directory, 'postrider.db')), before);
  assert.deepEqual(
    readdirSync(directory).filter((name) => !name.startsWith('lock.db')),
    ['postrider.db'],
  );
  assert.deepEqual(idsIn(directory), [FIRST.id]);
});

test('the copy has what a running daemon has committed, also when that is in the WAL alone', async (t) => {
  const { directory, database } = oldDatabase();
  t.after(() => database.close());
  const lock = lockDirectory(directory);
  t.after(() => lock.release());
  // It fails in a copy without the row.
  const proof = {
    id: '0002-proof',
    sql: 'CREATE TABLE proof (rows INTEGER CHECK (rows = 1)); INSERT INTO proof SELECT count(*) FROM notes',
  };
  const schema = migratedSchema([FIRST, proof]);
  const { migrations } = await rehearseMigrations(SYSTEM, {
    ...{ directory, schema },
    scratchIn: temporaryDirectory('copy'),
  });
  assert.deepEqual(
    migrations.map(({ id }) => id),
    [proof.id],
  );
  database.exec("INSERT INTO notes VALUES ('later')");
  assert.equal(database.prepare('SELECT count(*) FROM migrations').pluck().get(), 1);
});

test('a migration that fails is the error, and the copy is removed', async () => {
  const { directory, database } = oldDatabase();
  database.close();
  const schema = migratedSchema([FIRST, { id: '0002-wrong', sql: 'ALTER TABLE missing ADD COLUMN at' }]);
  const scratchIn = temporaryDirectory('copy');
  await assert.rejects(
    rehearseMigrations(SYSTEM, { directory, scratchIn, schema }),
    /no such table: missing/,
  );
  assert.deepEqual(readdirSync(scratchIn), []);
});

test('what a killed check has left is removed by the next one', async () => {
  const { directory, database } = oldDatabase();
  database.close();
  mkdirSync(join(directory, 'scratch-killed', 'files'), { recursive: true });
  await rehearseMigrations(SYSTEM, { directory, scratchIn: directory, schema: NEW });
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('scratch-')),
    [],
  );
});

test('a disk that is too small is refused before anything is copied', async () => {
  const { directory, database } = oldDatabase();
  database.close();
  const small = { clock: realClock, statDisk: async () => ({ freeBytes: 2 ** 20, totalBytes: 2 ** 40 }) };
  await assert.rejects(
    rehearseMigrations(small, { directory, scratchIn: directory, schema: NEW }),
    /needs 65 MB in .*, but 1 MB are free: .*--dir/,
  );
});

test('a database of a newer version is refused with the version that wrote it', async () => {
  const { directory, database } = oldDatabase();
  migrate(database, 0, migratedSchema([FIRST, SECOND]));
  database.prepare("UPDATE migrations SET version = '9.1.0' WHERE id = ?").run(SECOND.id);
  database.close();
  await assert.rejects(rehearseMigrations(SYSTEM, { directory, scratchIn: directory, schema: OLD }), {
    name: 'SchemaVersionError',
    message: /does not know: version 9\.1\.0 wrote it\. Take that version or a later one$/,
  });
});
