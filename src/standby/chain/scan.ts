/**
 * Compares the databases and files of the data directory with what a follower has. All changes are followed since before the scan. A page that a
 * commit or a checkpoint changes meanwhile is therefore among those that are collected: its version here, which may be half written, is replaced by that one.
 *
 * A file of a database that has the same size, times and inode as when it was compared last, and no WAL, is not read. A change in the same moment
 * of a clock as the comparison would not be seen by its times, so they only count when they were some seconds old.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { accountFolder, contentFolder, indexFile } from '../../accounts/folder.ts';
import { isMailboxId, namesIn } from '../../backups/format.ts';
import { FILE_FOLDER, pathOf } from '../../blobs/files.ts';
import { blobFolder } from '../../blobs/owner.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { createPageBudget, WaitingPages } from '../../db/waiting-pages.ts';
import { nextSlice } from '../../system/slices.ts';
import { RawFiles } from './raw-files.ts';
import { keyOf, PRINT_BYTES, printOf, Shipped, type ShippedDatabase } from './shipped.ts';

/** Maximum size of the pages that differ, in bytes. They are in memory until the next cut. Above it, a new base costs little more. */
const MAX_PAGES_BYTES = 128 * 1024 * 1024;
/** Maximum size of the files that a follower does not have, in bytes. They are in one segment, whose archive has a limit (segment/format.ts). */
const MAX_FILES_BYTES = 1024 * 1024 * 1024;
/** Age that the times of a file must have to count, in milliseconds. File systems store times of up to 2 s. */
const SETTLED_MS = 5_000;
const NANOSECONDS_PER_MS = 1_000_000n;
/** Offset of the size of a page in the header of a database, of which 1 stands for 65,536 (SQLite file format, 1.3.2). */
const PAGE_SIZE_AT = 16;
const SHA256_NAME = /^[0-9a-f]{64}$/;

/** The result of a scan: what a follower has once it has the differences too. Paths are relative to the data directory. */
export type Scanned = {
  shipped: Shipped;
  /** Pages that differ, by the path of the database. */
  pages: Map<string, WaitingPages>;
  /** Files of contents that a follower does not have. */
  files: string[];
  /** Accounts whose databases have a WAL. */
  withWal: MailboxRow['id'][];
};

export type ScanOptions = {
  dataDir: string;
  /** The pages and files that a follower has; undefined after a base was made, when only the fingerprints of this host are wanted. */
  known: Shipped | undefined;
  now: number;
  signal: AbortSignal;
  maxPagesBytes?: number;
};

/** A database file that is compared. */
type Compared = { path: string; note: string; known: ShippedDatabase | undefined };

/** Returns the differences; undefined when there are more than a segment should have. @throws Error; errors of the file system */
export async function scan(options: ScanOptions): Promise<Scanned | undefined> {
  const { dataDir, known, signal, maxPagesBytes = MAX_PAGES_BYTES } = options;
  const found: Scanned = { shipped: new Shipped(), pages: new Map(), files: [], withWal: [] };
  const changed = await findChanged(options, found);
  const budget = createPageBudget(maxPagesBytes);
  using raw = new RawFiles(signal);
  for (const compared of changed) {
    const pages = known && new WaitingPages(budget);
    const database = await compare(raw.read(join(dataDir, compared.path)), compared, pages);
    if (pages?.isLost) return undefined;
    if (!database) continue;
    found.shipped.databases.set(compared.path, database);
    if (pages) found.pages.set(compared.path, pages);
  }
  return (await compareFiles(dataDir, known, found)) ? found : undefined;
}

/** Lists the accounts that have a database, with whether it has a WAL. */
export async function listAccounts(dataDir: string): Promise<{ id: MailboxRow['id']; hasWal: boolean }[]> {
  const ids = (await namesIn(join(dataDir, 'mailboxes'))).filter(isMailboxId);
  return ids.flatMap((id) => {
    const file = indexFile(accountFolder(dataDir, id));
    return statSync(file, { throwIfNoEntry: false }) ? [{ id, hasWal: hasWal(file) }] : [];
  });
}

/** Returns the databases that are to be read. Those that have not changed are in `found` then. */
async function findChanged({ dataDir, known, now }: ScanOptions, found: Scanned): Promise<Compared[]> {
  const accounts = await listAccounts(dataDir);
  for (const { id, hasWal: has } of accounts) if (has) found.withWal.push(id);
  const files = [
    { path: 'postrider.db', has: true },
    ...accounts.map(({ id, hasWal: has }) => {
      return { path: relative(dataDir, indexFile(accountFolder(dataDir, id))), has };
    }),
  ];
  return files.flatMap(({ path, has }) => {
    const stats = statSync(join(dataDir, path), { bigint: true, throwIfNoEntry: false });
    if (!stats) return [];
    const [note, database] = [noteOf(stats, now), known?.databases.get(path)];
    if (!database || has || note === '' || note !== database.note) return [{ path, note, known: database }];
    found.shipped.databases.set(path, database);
    return [];
  });
}

function hasWal(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Describes the state of a file; empty when it may change without another description. */
function noteOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats, now: number): string {
  const newest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  const isSettled = newest / NANOSECONDS_PER_MS < BigInt(Math.floor(now) - SETTLED_MS);
  return isSettled ? [ino, size, mtimeNs, ctimeNs].join(' ') : '';
}

/** Reads a database, and puts the pages that differ in `pages`. Returns undefined for a database without pages. */
async function compare(
  slices: AsyncIterable<Buffer>,
  { note, known }: Compared,
  pages: WaitingPages | undefined,
): Promise<ShippedDatabase | undefined> {
  const prints: Buffer[] = [];
  let [pageBytes, first] = [0, 1];
  for await (const slice of slices) {
    if (pageBytes === 0) pageBytes = pageBytesOf(slice, known);
    const own = printAll(slice, pageBytes);
    const expected = known?.prints ?? Buffer.alloc(0);
    if (pages) keepDifferent(pages, { slice, own, expected, pageBytes, first });
    if (pages?.isLost) return undefined;
    prints.push(own);
    first += own.length / PRINT_BYTES;
    await nextSlice();
  }
  if (prints.length === 0) return undefined;
  pages?.setSize(first - 1);
  return { pageBytes, note, prints: Buffer.concat(prints) };
}

/** @throws Error for a file that is no database, or whose pages have another size than in the copy of a follower */
function pageBytesOf(slice: Buffer, known: ShippedDatabase | undefined): number {
  const found = slice.length >= PAGE_SIZE_AT + 2 ? slice.readUInt16BE(PAGE_SIZE_AT) : 0;
  const pageBytes = found === 1 ? 65_536 : found;
  const isSize = pageBytes >= 512 && (pageBytes & (pageBytes - 1)) === 0;
  if (!isSize || (known && known.pageBytes !== pageBytes))
    throw new Error('a database has pages of another size');
  return pageBytes;
}

function printAll(slice: Buffer, pageBytes: number): Buffer {
  const count = Math.floor(slice.length / pageBytes);
  const prints = Buffer.allocUnsafeSlow(count * PRINT_BYTES);
  for (let index = 0; index < count; index++)
    printOf(slice.subarray(index * pageBytes, (index + 1) * pageBytes)).copy(prints, index * PRINT_BYTES);
  return prints;
}

type Slice = { slice: Buffer; own: Buffer; expected: Buffer; pageBytes: number; first: number };

/** Puts the pages of a slice whose fingerprints are others than expected. */
function keepDifferent(pages: WaitingPages, { slice, own, expected, pageBytes, first }: Slice): void {
  for (let index = 0; index < own.length / PRINT_BYTES; index++) {
    const at = (first - 1 + index) * PRINT_BYTES;
    const print = own.subarray(index * PRINT_BYTES, (index + 1) * PRINT_BYTES);
    const isKnown =
      at + PRINT_BYTES <= expected.length && print.compare(expected, at, at + PRINT_BYTES) === 0;
    if (!isKnown) pages.put(first + index, slice.subarray(index * pageBytes, (index + 1) * pageBytes));
  }
}

/** Compares the names of the files of contents. Returns false when those that a follower does not have are too large together. */
async function compareFiles(dataDir: string, known: Shipped | undefined, found: Scanned): Promise<boolean> {
  const accounts = (await namesIn(join(dataDir, 'mailboxes'))).filter(isMailboxId);
  const roots = [blobFolder(dataDir), ...accounts.map((id) => contentFolder(accountFolder(dataDir, id)))];
  let bytes = 0;
  for (const root of roots)
    for (const name of (await namesIn(root)).filter((one) => FILE_FOLDER.test(one))) {
      const folder = relative(dataDir, join(root, name));
      const keys = known?.keysIn(folder);
      const names = (await readdir(join(root, name))).filter((one) => SHA256_NAME.test(one));
      found.shipped.files.set(folder, names.map(keyOf).join(''));
      for (const sha256 of keys ? names : []) {
        if (keys?.has(keyOf(sha256))) continue;
        const file = pathOf(root, sha256);
        bytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0;
        if (bytes > MAX_FILES_BYTES) return false;
        found.files.push(relative(dataDir, file));
      }
    }
  return true;
}
