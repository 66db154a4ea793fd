import assert from 'node:assert/strict';
import { copyFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite, { type Database } from 'better-sqlite3';
import fc from 'fast-check';
import { applyPages } from '../../src/db/apply-pages.ts';
import { type ChangedPages, type CollectedPages, eachPage } from '../../src/db/changed-pages.ts';
import { checkpointWhenLong, openPrivate, openWriting } from '../../src/db/connection.ts';
import { CopyPace, copyDatabase, markWithoutWal } from '../../src/db/copy-database.ts';
import { createPageBudget, WaitingPages } from '../../src/db/waiting-pages.ts';
import { WalSpace } from '../../src/db/wal-space.ts';
import { WalTap } from '../../src/db/wal-tap.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory('wal-tap');
let files = 0;
const newFile = () => join(directory, `${++files}.db`);

/** Writes the pages of a collection into a copy. */
function apply(file: string, collected: CollectedPages): Promise<void> {
  assert.ok(collected !== 'lost');
  return collected ? applyPages(file, { ...collected, pages: eachPage(collected) }) : Promise.resolve();
}

/** Returns all rows of a database that has one table. */
function rowsOf(database: Database): unknown[] {
  return database.prepare('SELECT id, text FROM rows ORDER BY id').raw().all();
}

function rowsOfCopy(file: string): unknown[] {
  const copy = new Sqlite(file, { readonly: true });
  assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok');
  const rows = rowsOf(copy);
  copy.close();
  assert.ok(!existsSync(`${file}-wal`));
  return rows;
}

/** A database as its thread has it: the WAL is read each time that it was copied back, and before it is closed. */
class Followed {
  readonly file: string;
  readonly pages: WaitingPages;
  readonly #openFile: (file: string) => Database;
  database: Database;
  #tap: WalTap;
  #reader: Database | undefined;

  constructor(openFile: (file: string) => Database, { file = newFile(), budget = createPageBudget() } = {}) {
    this.file = file;
    this.#openFile = openFile;
    this.pages = new WaitingPages(budget);
    this.database = openFile(file);
    this.#tap = new WalTap(this.database, this.pages);
    this.database.exec('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
  }

  insert(count: number, characters = 100): void {
    const insert = this.database.prepare('INSERT INTO rows (text) VALUES (?)');
    this.database.transaction(() => {
      for (let row = 0; row < count; row++) insert.run(`${row} `.repeat(characters));
    })();
  }

  delete(from: number, count: number): void {
    this.database.prepare('DELETE FROM rows WHERE id BETWEEN ? AND ?').run(from, from + count);
  }

  rollBack(count: number): void {
    this.database.exec('BEGIN IMMEDIATE');
    this.insert(count);
    this.database.exec('ROLLBACK');
  }

  collect(): CollectedPages {
    this.#tap.read();
    return this.pages.take();
  }

  checkpoint(pages = 1): void {
    checkpointWhenLong(this.database, pages, { before: () => {}, after: () => this.#tap.read() });
  }

  /** Lets a reader keep a part of the WAL from being copied back, or ends that. */
  toggleReader(): void {
    if (this.#reader) this.#reader.close();
    else {
      this.#reader = new Sqlite(this.file, { readonly: true });
      this.#reader.exec('BEGIN');
      this.#reader.prepare('SELECT count(*) FROM rows').get();
      return;
    }
    this.#reader = undefined;
  }

  /** Closes the database, which the disk may be too full for to copy the WAL back. */
  reopen({ leavesWal = false } = {}): void {
    this.#tap.read();
    if (leavesWal) {
      const kept = newFile();
      copyFileSync(this.file, kept);
      copyFileSync(`${this.file}-wal`, `${kept}-wal`);
      this.database.close();
      copyFileSync(kept, this.file);
      copyFileSync(`${kept}-wal`, `${this.file}-wal`);
    } else this.database.close();
    this.database = this.#openFile(this.file);
    this.#tap = new WalTap(this.database, this.pages);
  }

  close(): void {
    this.#reader?.close();
    this.database.close();
  }
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));
const openMain = (file: string) => openWriting(file, 'NORMAL');

/** An event in the life of a database. Numbers are drawn for it. */
const STEPS: Record<string, (followed: Followed, number: number) => void> = {
  insert: (followed, number) => followed.insert(number),
  insertLarge: (followed, number) => followed.insert(2, number * 200),
  delete: (followed, number) => followed.delete(number, number),
  update: ({ database }, number) =>
    void database.prepare('UPDATE rows SET text = text || ? WHERE id % 7 = 0').run('u'.repeat(number)),
  rollBack: (followed, number) => followed.rollBack(number),
  rollBackSpilled: (followed) => followed.rollBack(1_500),
  vacuum: ({ database }, number) => void database.exec(`PRAGMA incremental_vacuum(${number})`),
  checkpoint: (followed) => followed.checkpoint(),
  space: ({ file, database }) => {
    const [state] = database.pragma('wal_checkpoint(NOOP)') as { log: number }[];
    new WalSpace(`${file}-wal`).extend(state?.log ?? 0);
  },
};

const step = fc.tuple(
  fc.constantFrom(...Object.keys(STEPS), 'collect', 'collect', 'reader', 'reopen'),
  fc.integer({ min: 1, max: 40 }),
);

for (const [kind, openFile] of Object.entries({ openMain, openPrivate }))
  test(`a copy to which the collected pages are applied is the database (${kind})`, async () => {
    const runs = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const followed = new Followed(openFile);
      followed.insert(60);
      followed.checkpoint();
      const file = newFile();
      let isCopied = false;
      const pace = new CopyPace();
      pace.next = () => 4;
      const copying = copyDatabase(followed.database, file, pace).then(() => {
        isCopied = true;
      });
      const early: CollectedPages[] = [];
      const collect = async () => {
        const collected = followed.collect();
        const rows = rowsOf(followed.database);
        if (!isCopied) return void early.push(collected);
        markWithoutWal(file);
        for (const pages of early.splice(0)) await apply(file, pages);
        await apply(file, collected);
        assert.deepEqual(rowsOfCopy(file), rows);
      };
      for (const [name, number] of steps) {
        await nextTurn();
        if (name === 'collect') await collect();
        else if (name === 'reader') kind === 'openMain' && followed.toggleReader();
        else if (name === 'reopen') {
          await copying;
          if (kind === 'openPrivate')
            followed.reopen({ leavesWal: number < 20 && existsSync(`${followed.file}-wal`) });
        } else STEPS[name]?.(followed, number);
      }
      await copying;
      await collect();
      followed.close();
    });
    await fc.assert(runs, { numRuns: 20, endOnFailure: true });
  });

test('a database in an old file with other pages, which becomes smaller and grows again', async () => {
  const file = newFile();
  const old = new Sqlite(file);
  old.pragma('page_size = 1024');
  old.pragma('auto_vacuum = INCREMENTAL');
  old.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
  old.close();
  const copy = newFile();
  copyFileSync(file, copy);
  const followed = new Followed(openMain, { file });
  followed.insert(200);
  await apply(copy, followed.collect());
  const largeBytes = statSync(copy).size;
  followed.insert(50);
  followed.delete(1, 240);
  followed.database.exec('PRAGMA incremental_vacuum(1000)');
  const smaller = followed.collect() as ChangedPages;
  assert.equal(smaller.pageBytes, 1_024);
  assert.ok(smaller.numbers.every((number) => number <= smaller.databasePages));
  await apply(copy, smaller);
  assert.ok(statSync(copy).size < largeBytes / 4);
  followed.insert(20);
  await apply(copy, followed.collect());
  assert.deepEqual(rowsOfCopy(copy), rowsOf(followed.database));
  assert.equal(followed.collect(), undefined);
  followed.close();
});

test('what an earlier process has left in the WAL is collected when the database is opened', async () => {
  const before = new Followed(openPrivate);
  before.insert(30);
  const file = newFile();
  copyFileSync(before.file, file);
  copyFileSync(`${before.file}-wal`, `${file}-wal`);
  before.close();
  const followed = new Followed(openPrivate, { file });
  const copy = newFile();
  await apply(copy, followed.collect());
  assert.equal(rowsOfCopy(copy).length, 30);
  followed.close();
});

/** Another program, which knows nothing of the tap, copies the WAL back. */
function checkpointElsewhere(file: string, mode = 'PASSIVE'): void {
  const other = new Sqlite(file);
  other.pragma(`wal_checkpoint(${mode})`);
  other.close();
}

test('changes that another program made unreadable are lost, and only those', () => {
  const followed = new Followed(openMain);
  followed.insert(1);
  followed.checkpoint();
  followed.insert(1);
  assert.notEqual(followed.collect(), 'lost');
  // The WAL is copied back to its end elsewhere, and is then read to its end.
  checkpointElsewhere(followed.file);
  assert.equal(followed.collect(), undefined);
  followed.insert(1);
  assert.notEqual(followed.collect(), 'lost');
  // A commit that was not read is copied back elsewhere, and the next one begins the WAL anew.
  followed.insert(1);
  checkpointElsewhere(followed.file);
  followed.insert(1);
  assert.equal(followed.collect(), 'lost');
  followed.insert(1);
  assert.equal(followed.collect(), 'lost');
  followed.close();

  const twice = new Followed(openMain);
  twice.insert(1);
  twice.checkpoint();
  for (let count = 0; count < 2; count++) {
    twice.insert(1);
    checkpointElsewhere(twice.file);
  }
  twice.insert(1);
  assert.equal(twice.collect(), 'lost');
  twice.close();

  const truncated = new Followed(openMain);
  assert.notEqual(truncated.collect(), 'lost');
  truncated.insert(1);
  checkpointElsewhere(truncated.file, 'TRUNCATE');
  assert.equal(truncated.collect(), undefined);
  truncated.insert(1);
  assert.equal(truncated.collect(), 'lost');
  truncated.close();
});

test('changes that nobody collects are given up, and their memory is free for other databases', () => {
  const budget = createPageBudget(400_000);
  const [followed, other] = [new Followed(openPrivate, { budget }), new Followed(openPrivate, { budget })];
  followed.insert(60, 5_000);
  other.insert(1);
  assert.equal(followed.collect(), 'lost');
  assert.notEqual(other.collect(), 'lost');
  for (let count = 0; count < 5; count++) {
    other.insert(5, 5_000);
    assert.notEqual(other.collect(), 'lost');
  }
  followed.close();
  other.close();
});
