import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openPrivate } from '../../src/db/connection.ts';
import { WalSpace } from '../../src/db/wal-space.ts';

const MIB = 1024 * 1024;

function openNumbers() {
  const file = join(mkdtempSync(join(tmpdir(), 'wal-space-')), 'numbers.db');
  const database = openPrivate(file);
  database.exec('CREATE TABLE numbers (number INTEGER NOT NULL) STRICT');
  const insert = database.prepare('INSERT INTO numbers VALUES (?)');
  const frames = database.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)');
  return { file, database, insert, used: () => frames.get()?.log ?? 0 };
}

test('a WAL that commits make longer has space ahead of them, of which a recovery reads nothing', () => {
  const { file, database, insert, used } = openNumbers();
  const space = new WalSpace(`${file}-wal`);
  const sizes = new Set<number>();
  for (let number = 0; number < 700; number++) {
    insert.run(number);
    space.extend(used());
    if (used() < 32) assert.ok(statSync(`${file}-wal`).size < MIB / 4);
    else sizes.add(statSync(`${file}-wal`).size);
  }
  assert.ok(sizes.size <= 5, `the file got longer ${sizes.size} times`);
  const copy = join(mkdtempSync(join(tmpdir(), 'wal-space-')), 'copy.db');
  copyFileSync(file, copy);
  copyFileSync(`${file}-wal`, `${copy}-wal`);
  const recovered = openPrivate(copy);
  assert.deepEqual(recovered.prepare('SELECT count(*) AS count, max(number) AS last FROM numbers').get(), {
    count: 700,
    last: 699,
  });
  recovered.close();
  database.close();
  assert.ok(!existsSync(`${file}-wal`));
});

test('a file that cannot be made longer stays as it was, and is not tried again', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'wal-space-')), 'full-wal');
  const before = 500_000;
  writeFileSync(file, Buffer.alloc(before));
  let writes = 0;
  const space = new WalSpace(file, () => {
    writes++;
    return 4_096;
  });
  space.extend(120);
  space.extend(240);
  assert.equal(writes, 1);
  assert.equal(statSync(file).size, before);
});
