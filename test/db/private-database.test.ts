import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { migratedSchema } from '../../src/db/migrate.ts';
import { defineWrite, type Tx } from '../../src/db/operation.ts';
import {
  DamagedDatabaseError,
  IDLE_CHECKPOINT_MS,
  IDLE_CHECKPOINT_PAGES,
  openPrivateDatabase,
  type PrivateDatabase,
} from '../../src/db/private-database.ts';
import { statement } from '../../src/db/statement.ts';
import { AppError } from '../../src/system/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Notes = { notes: { id: number; text: string } };
type NotesTx = Tx<Notes>;

const schema = migratedSchema([
  { id: '1', sql: 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT' },
]);

const addNote = defineWrite(
  'test.addPrivateNote',
  async (tx: NotesTx, { text, refusal }: { text: string; refusal?: string }) => {
    await tx
      .insertInto('notes')
      .values({ text } as never)
      .execute();
    if (refusal !== undefined) throw new AppError('invalid_state', refusal);
    return (await listNotes.all(tx, {})).length;
  },
  { crashPoints: { beforeCommit: 'before', afterCommit: 'after' } },
);

const listNotes = statement((db: NotesTx) => db.selectFrom('notes').selectAll().orderBy('id'));

const clock = createFakeClock(0);

function open(directory = temporaryDirectory('private'), crashPoint: (name: string) => void = () => {}) {
  const file = join(directory, 'x.db');
  return openPrivateDatabase<Notes>(
    // The time of a group is never over.
    { clock: { elapsed: () => 0, after: clock.after }, crashPoint },
    { file, schema, nowMs: 0 },
  );
}

test('writes of one turn share a commit, and each gets its result', async () => {
  const reached: string[] = [];
  const db = open(temporaryDirectory('private'), (name) => reached.push(name));
  const counts = await Promise.all(['a', 'b', 'c'].map((text) => db.commit(addNote, { text })));
  assert.deepEqual(counts, [1, 2, 3]);
  assert.deepEqual(reached, ['before', 'before', 'before', 'after', 'after', 'after']);
  await db.close();
});

test('a database that could not be opened once can be opened later', async () => {
  const directory = temporaryDirectory('private');
  await open(directory).close();
  // The WAL cannot be opened, after the lock of the database was taken.
  const wal = join(directory, 'x.db-wal');
  mkdirSync(wal);
  assert.throws(() => open(directory), /unable to open/);
  rmdirSync(wal);
  await open(directory).close();
});

test('a refused write leaves nothing, and its neighbours are kept', async () => {
  const db = open();
  const outcomes = await Promise.allSettled([
    db.commit(addNote, { text: 'a' }),
    db.commit(addNote, { text: 'b', refusal: 'no' }),
    db.commit(addNote, { text: 'c' }),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    [1, 'no', 2],
  );
  assert.ok(outcomes[1]?.status === 'rejected' && outcomes[1].reason instanceof AppError);
  await db.close();
});

/** A query that began while a transaction was open. */
let queried: Promise<number> | undefined;

const addAndQuery = defineWrite(
  'test.addAndQuery',
  async (tx: NotesTx, { db, refusal }: { db: PrivateDatabase<Notes>; refusal: string }) => {
    await addNote.run(tx, { text: 'gone' });
    queried = listNotes.all(db.read, {}).then((rows) => rows.length);
    const rows = await tx.selectFrom('notes').selectAll().execute();
    if (rows.length > 0) throw new AppError('invalid_state', refusal);
  },
);

test('a query waits for the transaction that is open, so it sees no write that is rolled back', async () => {
  const db = open();
  await assert.rejects(db.commit(addAndQuery, { db, refusal: 'no' }), /no/);
  assert.equal(await queried, 0);
  await db.close();
});

test('committed writes are told in their order, before any of their callers goes on', async () => {
  const db = open();
  const order: string[] = [];
  const write = async (text: string) => {
    await db.commit(addNote, { text }, (count) => order.push(`committed ${text} as ${count}`));
    order.push(`${text} goes on`);
  };
  await Promise.all([write('a'), write('b')]);
  assert.deepEqual(order, ['committed a as 1', 'committed b as 2', 'a goes on', 'b goes on']);
  await db.close();
});

test('closing waits for the writes that were asked for, and leaves one file', async () => {
  const directory = temporaryDirectory('private');
  const db = open(directory);
  const write = db.commit(addNote, { text: 'a' });
  assert.ok(existsSync(`${db.file}-wal`));
  await db.close();
  assert.equal(await write, 1);
  assert.deepEqual(readdirSync(directory), ['x.db']);
  await assert.rejects(db.commit(addNote, { text: 'b' }), { code: 'unavailable' });
  await assert.rejects(listNotes.all(db.read, {}), { code: 'unavailable' });
  const again = open(directory);
  assert.deepEqual(await listNotes.all(again.read, {}), [{ id: 1, text: 'a' }]);
  await again.close();
});

test('an open database has no -shm file', async () => {
  const directory = temporaryDirectory('private');
  await open(directory).close();
  const db = open(directory);
  await db.commit(addNote, { text: 'a' });
  assert.deepEqual(readdirSync(directory).sort(), ['x.db', 'x.db-wal']);
  await db.close();
});

test('the WAL is copied back when it is long', async () => {
  const db = open();
  for (let round = 0; round < 24; round++) await db.commit(addNote, { text: 'x'.repeat(1_000_000) });
  assert.ok(statSync(`${db.file}-wal`).size < 12_000_000, String(statSync(`${db.file}-wal`).size));
  await db.close();
});

const SCHEMA_BYTES = 8 * 4_096;

/** Overwrites the pages of a database after those of its schema. */
function damage(file: string): void {
  const descriptor = openSync(file, 'r+');
  const bytes = Buffer.alloc(statSync(file).size - SCHEMA_BYTES, 0xa5);
  writeSync(descriptor, bytes, 0, bytes.length, SCHEMA_BYTES);
  closeSync(descriptor);
}

test('the WAL is copied back earlier when nothing is written', async () => {
  const reached: string[] = [];
  const db = open(temporaryDirectory('private'), (name) => reached.push(name));
  const text = 'x'.repeat(4_096 * (IDLE_CHECKPOINT_PAGES + 100));
  await db.commit(addNote, { text });
  await clock.advance(IDLE_CHECKPOINT_MS - 1);
  await db.commit(addNote, { text: 'a' });
  await clock.advance(IDLE_CHECKPOINT_MS - 1);
  assert.deepEqual(reached, ['before', 'after', 'before', 'after']);
  await clock.advance(1);
  assert.deepEqual(reached.slice(4), ['private-checkpoint-before', 'private-checkpoint-after']);
  await db.close();
});

test('a damaged database refuses everything with one error, and the process goes on', async (t) => {
  const kill = t.mock.method(process, 'kill', () => true);
  const directory = temporaryDirectory('private');
  const db = open(directory);
  for (let round = 0; round < 40; round++) await db.commit(addNote, { text: 'x'.repeat(2_000) });
  await db.close();
  damage(db.file);
  const again = open(directory);
  await assert.rejects(listNotes.all(again.read, {}), DamagedDatabaseError);
  assert.ok((await again.damaged) instanceof DamagedDatabaseError);
  await assert.rejects(again.commit(addNote, { text: 'b' }), DamagedDatabaseError);
  await again.close();
  assert.equal(kill.mock.callCount(), 0);
});

test('a write that finds damage is refused with it', async () => {
  const directory = temporaryDirectory('private');
  const db = open(directory);
  for (let round = 0; round < 40; round++) await db.commit(addNote, { text: 'x'.repeat(2_000) });
  await db.close();
  damage(db.file);
  const again = open(directory);
  const writes = ['a', 'b'].map((text) => again.commit(addNote, { text }));
  for (const write of writes) await assert.rejects(write, DamagedDatabaseError);
  await again.close();
});

test('a file that is no database is damage', () => {
  const directory = temporaryDirectory('private');
  const descriptor = openSync(join(directory, 'x.db'), 'w');
  writeSync(descriptor, 'no database '.repeat(1_000));
  closeSync(descriptor);
  assert.throws(() => open(directory), DamagedDatabaseError);
});
