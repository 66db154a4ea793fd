import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type Database, type Db, openDatabase } from '../../src/db/database.ts';
import { migratedSchema } from '../../src/db/migrate.ts';
import { MAX_PENDING } from '../../src/db/thread-database.ts';
import { type DatabaseThreads, startDatabaseThreads } from '../../src/db/threads.ts';
import { AppError } from '../../src/system/errors.ts';
import { createLog } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { addNote, addNotebook, damage, NOTE_MIGRATIONS, type NoteTables, readNotes } from './notes.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';
import { addPlan, countPlans } from './operations.ts';

const NOW = Date.UTC(2030, 0, 1);
const system = { clock: createFakeClock(NOW), log: createLog('silent') };

/** The main database has threads of its own. All databases of notes share one writer thread and one reader thread. */
let main: Db;
let threads: DatabaseThreads;
before(async () => {
  main = await openTestDatabase({ after() {} });
  const operationsModule = new URL('./operations.ts', import.meta.url).href;
  threads = await startDatabaseThreads(system.clock, { operationsModule, readers: 1 });
});
after(() => Promise.all([main.close(), threads.close()]));

type Notes = Database<NoteTables> & { file: string };

async function openNotes(t: TestContext, file = join(temporaryDirectory(), 'notes.db')): Promise<Notes> {
  const { database } = await openDatabase<NoteTables>(system, threads, {
    file,
    synchronous: 'FULL',
    schema: migratedSchema(NOTE_MIGRATIONS),
  });
  t.after(() => database.close());
  await database.commit(addNotebook, { id: 'n', maxNotes: 2 }).catch(() => {});
  return Object.assign(database, { file });
}

const note = (text: string) => ({ notebookId: 'n', text, now: NOW });
const texts = async (notes: Notes) => (await notes.query(readNotes, 'n')).map(({ text }) => text).sort();

test('two databases in the same threads and the main database beside them keep their own data', async (t) => {
  const [one, other] = [await openNotes(t), await openNotes(t)];
  const plans = await main.query(countPlans, null);
  await Promise.all([
    one.commit(addNote, note('a')),
    other.commit(addNote, note('b')),
    main.commit(addPlan, 'beside notes'),
    one.commit(addNote, note('c')),
  ]);
  assert.deepEqual([await texts(one), await texts(other)], [['a', 'c'], ['b']]);
  assert.equal(await main.query(countPlans, null), plans + 1);
  const read = await one.read.selectFrom('notes').select('text').orderBy('text').execute();
  assert.deepEqual(read, [{ text: 'a' }, { text: 'c' }]);
});

test('a refusal in one database leaves nothing, and the writes of all databases beside it stand', async (t) => {
  const [one, other] = [await openNotes(t), await openNotes(t)];
  const results = await Promise.allSettled([
    one.commit(addNote, note('a')),
    one.commit(addNote, note('b')),
    one.commit(addNote, note('one too many')),
    other.commit(addNote, note('c')),
  ]);
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  assert.deepEqual(
    refused.map((error) => error instanceof AppError && [error.code, error.message]),
    [['quota_exceeded', 'At most 2 notes']],
  );
  assert.deepEqual([await texts(one), await texts(other)], [['a', 'b'], ['c']]);
});

test('an id drawn inside a write is the id that is stored, also when the write ran twice', async (t) => {
  const notes = await openNotes(t);
  // The third write refuses, so the group runs again and every write draws a second id.
  const results = await Promise.allSettled(['a', 'b', 'c'].map((text) => notes.commit(addNote, note(text))));
  const ids = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  assert.equal(results.at(-1)?.status, 'rejected');
  assert.deepEqual((await notes.query(readNotes, 'n')).map(({ id }) => id).sort(), ids.sort());
});

test('each schema has its own migrations, which run when the database is opened again', async (t) => {
  const { file, close } = await openNotes(t);
  await close();
  const more = { id: '0003-pinned', sql: 'ALTER TABLE notes ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0' };
  const { database } = await openDatabase<NoteTables>(system, threads, {
    file,
    synchronous: 'FULL',
    schema: migratedSchema([...NOTE_MIGRATIONS, more]),
  });
  t.after(() => database.close());
  await database.commit(addNote, note('a'));
  const columns = await database.read.introspection.getTables();
  const notes = columns.find(({ name }) => name === 'notes');
  assert.deepEqual(
    notes?.columns.map(({ name }) => name),
    ['id', 'notebookId', 'text', 'pinned'],
  );
});

test('a database that cannot be used any more fails alone, and the others in its threads go on', async (t) => {
  const [broken, sound] = [await openNotes(t), await openNotes(t)];
  const write = broken.commit(damage, null);
  await assert.rejects(write, { code: 'SQLITE_CORRUPT' });
  assert.match(String(await broken.failed), /malformed/);
  await assert.rejects(broken.commit(addNote, note('a')), { code: 'SQLITE_CORRUPT' });
  await sound.commit(addNote, note('b'));
  assert.deepEqual(await texts(sound), ['b']);
});

test('a database that cannot be opened says why, and the others in its threads go on', async (t) => {
  const sound = await openNotes(t);
  const file = join(temporaryDirectory(), 'broken.db');
  const wrong = { id: '0003-wrong', sql: 'CREATE TABLE notes (x TEXT) STRICT' };
  const schema = migratedSchema([...NOTE_MIGRATIONS, wrong]);
  const opening = openDatabase<NoteTables>(system, threads, { file, synchronous: 'FULL', schema });
  await assert.rejects(opening, /table notes already exists/);
  await sound.commit(addNote, note('a'));
  assert.deepEqual(await texts(sound), ['a']);
});

test('waiting writes of one database take no place from another in the same thread', async (t) => {
  const [flooded, calm] = [await openNotes(t), await openNotes(t)];
  const writes = Array.from({ length: MAX_PENDING }, () => flooded.commit(addNote, note('x')));
  await assert.rejects(flooded.commit(addNote, note('x')), /Too many writes are waiting/);
  let flood = 0;
  for (const write of writes) void write.catch(() => {}).then(() => flood++);
  await calm.commit(addNote, note('a'));
  assert.ok(flood < MAX_PENDING, 'the databases take turns, group by group');
  await Promise.allSettled(writes);
});

test('a closed database refuses writes, leaves no WAL, and can be opened again', async (t) => {
  const notes = await openNotes(t);
  await Promise.all([notes.commit(addNote, note('a')), notes.close()]);
  await assert.rejects(notes.commit(addNote, note('b')), /is closing/);
  assert.equal(existsSync(`${notes.file}-wal`), false);
  assert.deepEqual(await texts(await openNotes(t, notes.file)), ['a']);
});

test('a write of one schema is no write of another database', () => {
  // @ts-expect-error The types keep operations and databases together; at run time the table would be missing.
  const wrong = () => main.commit(addNotebook, { id: 'x', maxNotes: 1 });
  assert.equal(typeof wrong, 'function');
});
