import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { applyPages } from '../../src/db/apply-pages.ts';
import { type ChangedPages, eachPage } from '../../src/db/changed-pages.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE_BYTES = 4_096;

/** Returns all pages of a database with this text. */
function pagesOf(text: string): ChangedPages {
  const database = new Sqlite(':memory:');
  database.exec('CREATE TABLE texts (text TEXT NOT NULL) STRICT');
  database.prepare('INSERT INTO texts VALUES (?)').run(text);
  const contents = Uint8Array.from(database.serialize());
  database.close();
  const databasePages = contents.length / PAGE_BYTES;
  const numbers = Uint32Array.from({ length: databasePages }, (_, index) => index + 1);
  return { pageBytes: PAGE_BYTES, databasePages, numbers, contents };
}

function textIn(file: string): unknown {
  const database = new Sqlite(file, { readonly: true });
  const text = database.prepare('SELECT text FROM texts').pluck().get();
  database.close();
  return text;
}

test('pages make a database, change it and make it smaller, and may be written twice', async () => {
  const file = join(temporaryDirectory('apply'), 'copy.db');
  const large = pagesOf('x'.repeat(50_000));
  await applyPages(file, { ...large, pages: eachPage(large) });
  assert.equal(textIn(file), 'x'.repeat(50_000));
  const small = pagesOf('small');
  // Page 1 of a database with a WAL says so in its versions.
  small.contents.set([2, 2], 18);
  for (let time = 0; time < 2; time++) {
    await applyPages(file, { ...small, pages: eachPage(small) });
    assert.equal(textIn(file), 'small');
    assert.equal(readFileSync(file).length, small.contents.length);
  }
  assert.ok(!existsSync(`${file}-wal`));
});

test('pages of another database, and a copy in use, are refused', async () => {
  const file = join(temporaryDirectory('apply'), 'copy.db');
  const made = pagesOf('text');
  await applyPages(file, { ...made, pages: eachPage(made) });
  const bytes = new Uint8Array(PAGE_BYTES);
  for (const [number, page] of [
    [0, bytes],
    [made.databasePages + 1, bytes],
    [1, bytes.subarray(1)],
  ] as const)
    await assert.rejects(applyPages(file, { ...made, pages: [{ number, bytes: page }] }), /does not belong/);
  await assert.rejects(applyPages(file, { ...made, pageBytes: 512, pages: [] }), /pages of 4096 bytes/);
  writeFileSync(`${file}-wal`, '');
  await assert.rejects(applyPages(file, { ...made, pages: eachPage(made) }), /a program has used the copy/);
});
