import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { CompactionError, compactDatabase, requireSound } from '../../src/db/compact.ts';
import { openReading } from '../../src/db/connection.ts';
import { LockedError } from '../../src/db/lock.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';
import { addBlob, addPlan } from './operations.ts';

const GIGABYTE = 1_000_000_000;
const world = {
  statDisk: async () => ({ freeBytes: GIGABYTE, totalBytes: GIGABYTE }),
  crashPoint: () => {},
};

type Context = Parameters<typeof openTestDatabase>[0];

/** Returns a data directory whose database was made by an early version, and is mostly free pages. */
async function createOldDirectory(t: Context): Promise<{ directory: string; file: string }> {
  const directory = temporaryDirectory();
  const file = join(directory, 'postrider.db');
  const early = new Sqlite(file);
  early.exec('CREATE TABLE early (x); DROP TABLE early');
  early.close();
  const db = await openTestDatabase(t, { directory, readers: 0, newDatabase: true });
  for (let index = 0; index < 8; index++) await db.commit(addBlob, { id: `b${index}`, sizeBytes: 500_000 });
  await db.commit(addPlan, 'kept');
  await db.close();
  const side = new Sqlite(file);
  side.exec('DELETE FROM blobs');
  side.close();
  return { directory, file };
}

const pragma = (file: string, name: string) => {
  const database = openReading(file);
  const value = database.pragma(name, { simple: true });
  database.close();
  return value;
};

test('a compacted database has the same rows, no free pages, and can give pages back from then on', async (t) => {
  const { directory, file } = await createOldDirectory(t);
  assert.equal(pragma(file, 'auto_vacuum'), 0);
  const mode = statSync(file).mode;
  const { beforeBytes, afterBytes } = await compactDatabase(world, directory);
  assert.ok(beforeBytes > 4_000_000 && afterBytes < 2_000_000, `${beforeBytes} -> ${afterBytes}`);
  assert.deepEqual([statSync(file).size, statSync(file).mode], [afterBytes, mode]);
  const db = await openTestDatabase(t, { directory, readers: 0 });
  assert.equal(db.installation.alarm, undefined, 'the start finds nothing unusual');
  assert.ok(await db.read.selectFrom('plans').select('name').where('name', '=', 'kept').executeTakeFirst());
  await db.close();
  assert.deepEqual([pragma(file, 'auto_vacuum'), pragma(file, 'freelist_count')], [2, 0]);
});

test('the daemon of another user can open every file after a compaction by root', async (t) => {
  const { directory, file } = await createOldDirectory(t);
  // Only root can give a file away. Any other user proves the mode alone.
  const uid = process.geteuid?.() === 0 ? 4_321 : statSync(file).uid;
  const files = [file, join(directory, 'installation.json')];
  for (const path of files) {
    chownSync(path, uid, statSync(path).gid);
    chmodSync(path, 0o640);
  }
  const db = await openTestDatabase(t, { directory, readers: 0 });
  await db.close();
  await compactDatabase(world, directory);
  for (const path of files) {
    const { uid: owner, mode } = statSync(path);
    assert.deepEqual([owner, mode & 0o777], [uid, 0o640], path);
  }
});

test('a crash before the new file takes its place leaves the old database, and the next compaction works', async (t) => {
  const { directory, file } = await createOldDirectory(t);
  const before = readFileSync(file);
  const crash = new Error('crash');
  const crashing = {
    ...world,
    crashPoint: () => {
      throw crash;
    },
  };
  await assert.rejects(compactDatabase(crashing, directory), crash);
  assert.deepEqual(readFileSync(file), before);
  writeFileSync(`${file}.compacted`, 'half a file');
  await compactDatabase(world, directory);
  assert.ok(statSync(file).size < before.length);
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.includes('compacted') || name.endsWith('-wal')),
    [],
  );
});

test('a new file that is damaged, or of another generation, does not take the place of the old one', async (t) => {
  const { file } = await createOldDirectory(t);
  const generation = pragma(file, 'user_version');
  assert.doesNotThrow(() => requireSound(file, generation));
  assert.throws(() => requireSound(file, Number(generation) + 1), /is not of the same generation$/);
  const bytes = readFileSync(file);
  const pageBytes = Number(pragma(file, 'page_size'));
  // The first page and the schema stay readable, and the content of every table is gone.
  bytes.fill(0xff, bytes.length - 20 * pageBytes);
  bytes.fill(0xff, 40 * pageBytes, 60 * pageBytes);
  writeFileSync(file, bytes);
  assert.throws(() => requireSound(file, generation), /is damaged: |malformed/);
});

test('without enough free space nothing is written, and the message says how much is needed', async (t) => {
  const { directory, file } = await createOldDirectory(t);
  const before = readFileSync(file);
  const full = { ...world, statDisk: async () => ({ freeBytes: 60_000_000, totalBytes: GIGABYTE }) };
  await assert.rejects(compactDatabase(full, directory), (error: unknown) => {
    assert.ok(error instanceof CompactionError);
    assert.match(error.message, /it needs 6[78]\.\d MB of free space in .+, and 60\.0 MB are free$/);
    return true;
  });
  assert.deepEqual(readFileSync(file), before);
  assert.equal(existsSync(`${file}.compacted`), false);
});

test('while another program has the database open, it is not replaced', async (t) => {
  const { directory, file } = await createOldDirectory(t);
  const inode = statSync(file).ino;
  const other = openReading(file);
  other.prepare('SELECT count(*) FROM plans').get();
  await assert.rejects(compactDatabase(world, directory), /another program has .+postrider\.db open/);
  assert.equal(statSync(file).ino, inode);
  other.close();
});

test('a directory that a daemon uses is refused', async (t) => {
  const directory = temporaryDirectory();
  await openTestDatabase(t, { directory, readers: 0 });
  await assert.rejects(compactDatabase(world, directory), LockedError);
});
