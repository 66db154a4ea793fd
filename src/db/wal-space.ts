/**
 * Keeps space for a WAL ahead of its writer. The flush of a file that has become longer commits the journal of the file system too, which
 * takes longer than everything else of a small commit. A WAL is short for as long as its database was opened recently, so that
 * nearly every commit of a mailbox would lengthen it.
 *
 * The space is zeros behind the last frame, written between two transactions by the thread of the only connection. SQLite ignores
 * what follows the last valid frame, and removes the file when the database is closed.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** Header of a WAL, and header of each frame (https://www.sqlite.org/fileformat2.html#walformat), in bytes. */
const WAL_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;
/** Length from which a WAL gets space, in frames: a mailbox that is opened for a few deliveries needs none. */
const MIN_FRAMES = 32;
/** Space that is added at a time, for about 20 small messages. Our own. */
const ADDED_BYTES = 1024 * 1024;
/** Space that a commit should find. A larger commit lengthens the file itself. */
const NEEDED_BYTES = 128 * 1024;

const zeros = Buffer.alloc(ADDED_BYTES);

export class WalSpace {
  readonly #file: string;
  readonly #write: typeof writeAt;
  /** Length of the file as far as it is known. */
  #bytes = 0;
  #isFull = false;

  /**
   * @param file the WAL of a database that no other connection has open
   * @param write writes octets at an offset and returns their number
   */
  constructor(file: string, write: typeof writeAt = writeAt) {
    this.#file = file;
    this.#write = write;
  }

  /** Adds space when a commit has left too little. `frames` is the number of frames that are in use. */
  extend(frames: number): void {
    const usedBytes = WAL_HEADER_BYTES + frames * FRAME_BYTES;
    if (this.#isFull || frames < MIN_FRAMES || usedBytes + NEEDED_BYTES <= this.#bytes) return;
    const file = openSync(this.#file, 'r+');
    try {
      this.#bytes = fstatSync(file).size;
      if (usedBytes + NEEDED_BYTES > this.#bytes) this.#lengthen(file);
    } finally {
      closeSync(file);
    }
  }

  /** The file stays as it was when the disk has no space, and commits lengthen it as long as they can. */
  #lengthen(file: number): void {
    const before = this.#bytes;
    try {
      const written = this.#write(file, zeros, before);
      if (written === zeros.length) {
        this.#bytes += written;
        return;
      }
    } catch {}
    this.#isFull = true;
    ftruncateSync(file, before);
  }
}

function writeAt(file: number, octets: Buffer, offset: number): number {
  return writeSync(file, octets, 0, octets.length, offset);
}
