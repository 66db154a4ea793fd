/**
 * Describes the copy of a follower after the newest cut: a fingerprint of each page of each database, and the names of the files of contents. A page with an
 * equal fingerprint is not sent again, so a fingerprint must never stand for a page that the follower does not have. One that is missing
 * only costs that the page is sent once more.
 */
import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import { contentHashOf } from '../../backups/format.ts';
import { type ChangedPages, eachPage } from '../../db/changed-pages.ts';

/** Size of a fingerprint, and of the key of a file, in bytes. To find two equal ones takes 2^64 attempts. */
export const PRINT_BYTES = 16;

/** Share of room that is left for further pages when fingerprints get other memory. */
const SPARE_SHARE = 1 / 8;

/** A database of the follower. */
export type ShippedDatabase = {
  /** Size of a page in bytes. */
  pageBytes: number;
  /** State of the file whose pages these are (scan.ts); empty when the file was changed since, or may have been. */
  note: string;
  /** Fingerprints of all pages in their order. Zeros stand for a page that is not known. */
  prints: Buffer;
};

/** The fingerprints of the pages of a segment. */
export type PrintedPages = Pick<ChangedPages, 'pageBytes' | 'databasePages' | 'numbers'> & {
  path: string;
  /** Fingerprints in the order of the numbers. */
  prints: Buffer;
};

/** The changes of a cut, as they are applied to `Shipped`. Paths are relative to the data directory. */
export type ShippedChanges = {
  databases: readonly PrintedPages[];
  /** Files of contents that the segment has. */
  files: readonly string[];
  /** Files of contents that had disappeared, so that the segment does not have them. */
  gone: readonly string[];
};

/** Returns the fingerprint of a page. */
export function printOf(page: Uint8Array): Buffer {
  return hash('sha256', page, 'buffer').subarray(0, PRINT_BYTES);
}

/** Returns the fingerprints of changed pages. */
export function printsOf(path: string, pages: ChangedPages): PrintedPages {
  const { pageBytes, databasePages, numbers } = pages;
  const prints = Buffer.allocUnsafeSlow(numbers.length * PRINT_BYTES);
  let at = 0;
  for (const { bytes } of eachPage(pages)) at += printOf(bytes).copy(prints, at);
  return { path, pageBytes, databasePages, numbers, prints };
}

/** Returns the key of a file of contents, whose name is its hash, as a string of bytes. */
export function keyOf(sha256: string): string {
  return Buffer.from(sha256.slice(0, 2 * PRINT_BYTES), 'hex').toString('latin1');
}

export class Shipped {
  readonly databases = new Map<string, ShippedDatabase>();
  /** Keys of the files of each folder, one after the other. One string takes far less memory than a set of them. */
  readonly files = new Map<string, string>();
  /** Memory of the fingerprints of each database to which a cut was applied, with room for more. */
  readonly #rooms = new Map<string, Buffer>();

  /** Applies the changes of the next cut. */
  apply({ databases, files, gone }: ShippedChanges): void {
    for (const pages of databases) this.#applyPages(pages);
    for (const path of gone) this.#removeFile(path);
    for (const path of files) this.#addFile(path);
  }

  /** Returns the keys of the files of a folder. */
  keysIn(folder: string): Set<string> {
    const keys = new Set<string>();
    const joined = this.files.get(folder) ?? '';
    for (let at = 0; at < joined.length; at += PRINT_BYTES) keys.add(joined.slice(at, at + PRINT_BYTES));
    return keys;
  }

  #applyPages({ path, pageBytes, databasePages, numbers, prints }: PrintedPages): void {
    const known = this.databases.get(path);
    const same = known?.pageBytes === pageBytes ? known.prints : Buffer.alloc(0);
    const resized = this.#resize(path, same, databasePages * PRINT_BYTES);
    for (const [index, number] of numbers.entries())
      prints.copy(resized, (number - 1) * PRINT_BYTES, index * PRINT_BYTES, (index + 1) * PRINT_BYTES);
    this.databases.set(path, { pageBytes, note: '', prints: resized });
  }

  /**
   * Returns the fingerprints with another size, in the same memory where that has room. A log has tens of thousands of cuts, and 5 GB of pages have 20 MB of
   * fingerprints. Pages behind the end are gone from the copy, and are zeros when the database grows again.
   */
  #resize(path: string, prints: Buffer, bytes: number): Buffer {
    let room = this.#rooms.get(path);
    if (!room || room.buffer !== prints.buffer || room.length < bytes) {
      room = Buffer.alloc(bytes + Math.ceil(bytes * SPARE_SHARE));
      prints.copy(room);
      this.#rooms.set(path, room);
    }
    room.fill(0, Math.min(prints.length, bytes), bytes);
    return room.subarray(0, bytes);
  }

  #addFile(path: string): void {
    const sha256 = contentHashOf(path);
    if (sha256 === undefined) return;
    const folder = dirname(path);
    const keys = this.files.get(folder) ?? '';
    this.files.set(folder, keys + keyOf(sha256));
  }

  #removeFile(path: string): void {
    const sha256 = contentHashOf(path);
    if (sha256 === undefined) return;
    const folder = dirname(path);
    const keys = this.keysIn(folder);
    keys.delete(keyOf(sha256));
    this.files.set(folder, [...keys].join(''));
  }
}
