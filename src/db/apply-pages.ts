/**
 * Writes changed pages into a copy of a database that nobody has open, such as that of a standby. The copy has no WAL, and stays marked
 * so. A crash leaves a part of the pages written; writing the same pages again completes them.
 */
import { existsSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errorCode } from '../system/errors.ts';
import type { ChangedPages, NumberedPage } from './changed-pages.ts';
import { markWithoutWal } from './copy-database.ts';

/** The sizes of the database, and its pages as they arrive. */
export type PagesToApply = Pick<ChangedPages, 'pageBytes' | 'databasePages'> & {
  pages: AsyncIterable<NumberedPage> | Iterable<NumberedPage>;
};

/**
 * Writes pages into a database file, which is made when it does not exist, and gives it its size. The caller flushes it. A page that is in neither
 * is zeros: SQLite does not write pages that are free.
 * @throws Error when the file has a WAL or pages of another size, or a page does not belong to the database; errors of the file system
 * and of `pages`
 */
export async function applyPages(
  file: string,
  { pageBytes, databasePages, pages }: PagesToApply,
): Promise<void> {
  for (const suffix of ['-wal', '-journal'])
    if (existsSync(file + suffix)) throw new Error(`${file}${suffix} exists: a program has used the copy`);
  const handle = await openOrCreate(file);
  try {
    await requirePageSize(file, handle, pageBytes);
    for await (const { number, bytes } of pages) {
      if (bytes.length !== pageBytes || number < 1 || number > databasePages)
        throw new Error(`page ${number} of ${bytes.length} bytes does not belong to ${file}`);
      writePage(handle, bytes, (number - 1) * pageBytes);
    }
    await handle.truncate(databasePages * pageBytes);
    // A page 1 of the original says that it has a WAL.
    markWithoutWal(file);
  } finally {
    await handle.close();
  }
}

async function openOrCreate(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return open(file, 'wx+', FILE_MODE);
  }
}

/** Offset of the size of a page in the header of a database, of which 1 stands for 65,536 (SQLite file format, 1.3.2). */
const PAGE_SIZE_AT = 16;
const FILE_MODE = 0o600;

/** @throws Error when the file has pages of another size */
async function requirePageSize(file: string, handle: FileHandle, pageBytes: number): Promise<void> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, PAGE_SIZE_AT);
  if (bytesRead === 0) return;
  const found = buffer.readUInt16BE(0);
  if ((found === 1 ? 65_536 : found) !== pageBytes)
    throw new Error(`${file} has pages of ${found} bytes, and not of ${pageBytes}`);
}

/** Writes synchronously: that takes less time than to ask another thread for it, and the system writes the pages to the disk later. */
function writePage({ fd }: FileHandle, bytes: Uint8Array, at: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(fd, bytes, written, bytes.length - written, at + written);
}
