import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { checkpointWhenLong, openReading, openWriting } from '../../src/db/connection.ts';
import { temporaryDirectory } from './open.ts';

const NORMAL = 1;
const FULL = 2;

function newFile(): string {
  return join(temporaryDirectory(), 'test.db');
}

test('better-sqlite3 left to itself does not flush commits to a WAL database, so the level is set by hand', () => {
  const file = newFile();
  openWriting(file, 'FULL').close();
  const plain = new Sqlite(file);
  plain.prepare('SELECT * FROM sqlite_schema').all();
  assert.equal(plain.pragma('synchronous', { simple: true }), NORMAL);
  plain.close();
});

test('both kinds of connection have every pragma that correctness or memory hangs on, also after the first query', () => {
  const file = newFile();
  const writing = openWriting(file, 'FULL');
  writing.exec('CREATE TABLE t (a INTEGER NOT NULL) STRICT');
  const reading = openReading(file);
  for (const database of [writing, reading]) {
    database.prepare('SELECT * FROM t').all();
    const read = (name: string) => database.pragma(name, { simple: true });
    assert.equal(read('journal_mode'), 'wal');
    assert.equal(read('synchronous'), FULL);
    assert.equal(read('foreign_keys'), 1);
    assert.equal(read('trusted_schema'), 0);
    assert.equal(read('cell_size_check'), 1);
    assert.equal(read('mmap_size'), 0);
    assert.equal(read('cache_size'), -2_048, 'KiB');
  }
  assert.throws(() => reading.exec('INSERT INTO t VALUES (1)'), /readonly/);
  reading.close();
  writing.close();
});

test('only a fault test asks for commits that are not flushed', () => {
  const database = openWriting(newFile(), 'NORMAL');
  assert.equal(database.pragma('synchronous', { simple: true }), NORMAL);
  database.close();
});

test('a reading connection never makes a file', () => {
  assert.throws(() => openReading(newFile()), /unable to open/);
});

test('the WAL is copied back once it is long, and not before', () => {
  const database = openWriting(newFile(), 'FULL');
  const checkpointed = () =>
    (database.pragma('wal_checkpoint(NOOP)') as { checkpointed: number }[])[0]?.checkpointed;
  database.exec('CREATE TABLE t (a BLOB) STRICT; INSERT INTO t VALUES (zeroblob(100000))');
  checkpointWhenLong(database, 1_000);
  assert.equal(checkpointed(), 0);
  checkpointWhenLong(database, 20);
  assert.ok((checkpointed() ?? 0) > 20);
  database.close();
});

test('a reader that stands in the way makes the copy partial, not a failure', () => {
  const file = newFile();
  const database = openWriting(file, 'FULL');
  database.exec('CREATE TABLE t (a BLOB) STRICT; INSERT INTO t VALUES (zeroblob(100000))');
  const reader = openReading(file);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM t').get();
  database.exec('INSERT INTO t VALUES (zeroblob(100000))');
  checkpointWhenLong(database, 20);
  assert.deepEqual(reader.prepare('SELECT count(*) AS n FROM t').get(), { n: 1 });
  reader.close();
  database.close();
});

test('a new database can give pages back, and opening an older one changes nothing in it', () => {
  const [made, older] = [newFile(), newFile()];
  const autoVacuum = (file: string) => {
    const database = openWriting(file, 'FULL');
    database.exec('CREATE TABLE IF NOT EXISTS t (x)');
    const mode = database.pragma('auto_vacuum', { simple: true });
    database.close();
    return mode;
  };
  assert.equal(autoVacuum(made), 2);
  const database = new Sqlite(older);
  database.exec('CREATE TABLE t (x)');
  database.pragma('journal_mode = WAL');
  database.close();
  const before = readFileSync(older);
  assert.equal(autoVacuum(older), 0);
  assert.deepEqual(readFileSync(older), before);
  const again = readFileSync(made);
  autoVacuum(made);
  assert.deepEqual(readFileSync(made), again);
});
