/** Writes a segment into a file. Pages are in memory already, and everything else is a stream, so that the memory is bounded. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { encryptAge } from '../../backups/age.ts';
import { type AddFile, writeTar } from '../../backups/tar.ts';
import type { ChangedPages } from '../../db/changed-pages.ts';
import { errorCode } from '../../system/errors.ts';
import type { Cut } from '../cut.ts';
import { CUT_FILE, FILES, MAX_ARCHIVE_BYTES, PAGES } from './format.ts';
import { encodePages, pagesEntryBytes } from './pages-entry.ts';

/** Level of the compression. A higher one takes more of the processor each second than it saves in bytes. */
const LEVEL = 1;

export type Segment = {
  cut: Cut;
  /** Changed databases, with their paths below the data directory. The main database comes first. */
  databases: readonly { path: string; pages: ChangedPages }[];
  /** New files. `path` is below the data directory, and `from` is the path on this disk. */
  files: readonly { path: string; from: string }[];
};

/**
 * Writes a segment, which is on disk then. A file that has disappeared is left out: what named it is about to disappear too. Its path is
 * among those that are `gone`.
 * @throws errors of the file system; Error without a recipient, and for more than `MAX_ARCHIVE_BYTES`, which no reader takes
 */
export async function writeSegment(
  segment: Segment,
  recipients: readonly string[],
  to: string,
): Promise<{ sha256: string; bytes: number; gone: string[] }> {
  const hash = createHash('sha256');
  const gone: string[] = [];
  let bytes = 0;
  await pipeline(
    writeTar((add) => addEntries(add, segment, gone)),
    boundArchive(MAX_ARCHIVE_BYTES),
    createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }),
    async function* (compressed: AsyncIterable<Uint8Array>) {
      for await (const piece of encryptAge(compressed, recipients)) {
        hash.update(piece);
        bytes += piece.length;
        yield piece;
      }
    },
    createWriteStream(to, { mode: 0o600, flush: true }),
  );
  return { sha256: hash.digest('hex'), bytes, gone };
}

/** Returns a step that hands on what it gets, and throws an error beyond a number of bytes. */
export function boundArchive(maxBytes: number) {
  return async function* (archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of archive) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new Error(`a segment of more than ${maxBytes} bytes cannot be shipped`);
      yield piece;
    }
  };
}

async function addEntries(add: AddFile, { cut, databases, files }: Segment, gone: string[]): Promise<void> {
  for (const { path, pages } of databases)
    await add({ name: PAGES + path, size: pagesEntryBytes(pages), bytes: encodePages(pages) });
  for (const { path, from } of files) if (!(await addFile(add, FILES + path, from))) gone.push(path);
  const text = Buffer.from(`${JSON.stringify(cut)}\n`);
  await add({ name: CUT_FILE, size: text.length, bytes: [text] });
}

/** Returns false when the file does not exist. */
async function addFile(add: AddFile, name: string, from: string): Promise<boolean> {
  const file = await openIfExists(from);
  if (!file) return false;
  try {
    // A file that is replaced meanwhile stays as it was for those who have it open.
    const { size, mtime } = await file.stat();
    const bytes = size === 0 ? [] : file.createReadStream({ start: 0, end: size - 1, autoClose: false });
    await add({ name, size, mtime, bytes });
    return true;
  } finally {
    await file.close();
  }
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
