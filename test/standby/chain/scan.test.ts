import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { type Scanned, type ScanOptions, scan } from '../../../src/standby/chain/scan.ts';
import { PRINT_BYTES } from '../../../src/standby/chain/shipped.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PAGE_BYTES = 4_096;
const ACCOUNT = 'mailboxes/mbx_1/index.db';
const SHA256 = 'ab'.repeat(32);
/** A time at which the times of all files are old. */
const LATER = Date.now() + 3_600_000;

/** Returns a database file of pages that have one letter each, but for the size of a page in the first. */
function databaseOf(letters: string, pageBytes = PAGE_BYTES): Buffer {
  const bytes = Buffer.concat([...letters].map((letter) => Buffer.alloc(pageBytes, letter)));
  if (bytes.length > 0) bytes.writeUInt16BE(pageBytes, 16);
  return bytes;
}

function openFolder() {
  const dataDir = temporaryDirectory('scan');
  const write = (path: string, bytes: Buffer): void => {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true });
    writeFileSync(join(dataDir, path), bytes);
  };
  const run = (options: Partial<ScanOptions> = {}) =>
    scan({ dataDir, known: undefined, now: LATER, signal: new AbortController().signal, ...options });
  write('postrider.db', databaseOf('abc'));
  write(ACCOUNT, databaseOf('def'));
  return { dataDir, write, run };
}

/** Returns the numbers of the pages that differ. */
function numbersOf({ pages }: Scanned, path: string): number[] | undefined {
  const taken = pages.get(path)?.take();
  assert.ok(taken !== 'lost');
  return taken && [...taken.numbers];
}

test('pages, sizes and files that differ from what a follower has are found', async () => {
  const { dataDir, write, run } = openFolder();
  write(`blobs/ab/${SHA256}`, Buffer.from('a'));
  const base = (await run()) as Scanned;
  assert.deepEqual([base.pages.size, base.files, base.withWal], [0, [], []]);
  assert.equal(base.shipped.databases.get('postrider.db')?.prints.length, 3 * PRINT_BYTES);

  const other = `mailboxes/mbx_1/blobs/cd/cd${SHA256.slice(2)}`;
  write('postrider.db', databaseOf('aXcd'));
  write(`${ACCOUNT}-wal`, Buffer.from('frames'));
  write(other, Buffer.from('b'));
  write('blobs/partial/x', Buffer.from('half'));
  write('mailboxes/mbx_2/index.db', databaseOf(''));
  const found = (await run({ known: base.shipped })) as Scanned;
  assert.deepEqual(numbersOf(found, 'postrider.db'), [2, 4]);
  assert.deepEqual(numbersOf(found, ACCOUNT), undefined);
  assert.deepEqual([found.files, found.withWal], [[other], ['mbx_1']]);
  assert.ok(!found.shipped.databases.has('mailboxes/mbx_2/index.db'));

  rmSync(join(dataDir, 'mailboxes'), { recursive: true });
  const after = (await run({ known: found.shipped })) as Scanned;
  assert.deepEqual([...after.shipped.databases.keys()], ['postrider.db']);
  assert.deepEqual([after.files, numbersOf(after, 'postrider.db')], [[], undefined]);
});

test('a file is read unless it is the same for sure', async () => {
  const { dataDir, write, run } = openFolder();
  const changeQuietly = (letters: string) => {
    const { atime, mtime } = statSync(join(dataDir, ACCOUNT));
    write(ACCOUNT, databaseOf(letters));
    utimesSync(join(dataDir, ACCOUNT), atime, mtime);
  };
  const fresh = (await run({ now: Date.now() })) as Scanned;
  assert.equal(fresh.shipped.databases.get(ACCOUNT)?.note, '', 'it may change in the same moment');
  const base = (await run()) as Scanned;
  const known = base.shipped.databases.get(ACCOUNT);
  assert.ok(known && known.note !== '');
  // The fingerprints stay those that are known, which shows that the file is not read.
  base.shipped.databases.set(ACCOUNT, { ...known, prints: Buffer.from(known.prints).fill(1) });
  const same = (await run({ known: base.shipped })) as Scanned;
  assert.equal(same.shipped.databases.get(ACCOUNT)?.prints[0], 1);
  write(`${ACCOUNT}-wal`, Buffer.from('frames'));
  assert.deepEqual(numbersOf((await run({ known: base.shipped })) as Scanned, ACCOUNT), [1, 2, 3]);
  rmSync(join(dataDir, `${ACCOUNT}-wal`));
  base.shipped.databases.set(ACCOUNT, known);
  changeQuietly('deX');
  assert.deepEqual(numbersOf((await run({ known: base.shipped })) as Scanned, ACCOUNT), [3]);
});

test('more than a segment should have is no difference, and neither is a database of other pages', async () => {
  const { write, run } = openFolder();
  const { shipped: known } = (await run()) as Scanned;
  write(ACCOUNT, databaseOf('xyz'));
  assert.ok(await run({ known, maxPagesBytes: 3 * PAGE_BYTES }));
  assert.equal(await run({ known, maxPagesBytes: 2 * PAGE_BYTES }), undefined);
  write(ACCOUNT, databaseOf('xyz', 8_192));
  await assert.rejects(run({ known }), /pages of another size/);
  write(ACCOUNT, Buffer.from('no database'));
  await assert.rejects(run(), /pages of another size/);
  await assert.rejects(run({ signal: AbortSignal.abort() }), /has ended/);
});
