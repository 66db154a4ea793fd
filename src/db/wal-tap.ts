/**
 * Reads from the WAL of a database which pages its commits have changed. It runs in the thread of the only connection that writes, between
 * two transactions, and only while somebody follows the database.
 *
 * No change is overwritten before it was read. SQLite begins a WAL anew, and then writes over its frames, only when everything was
 * copied back: at the next write, or at once when a checkpoint truncates it. The daemon copies a WAL back only in this thread. It calls `read`
 * after each checkpoint that was complete, when the frames are still there, and before it closes the database, which truncates the WAL. So when a
 * WAL begins anew, the tap has read the old one to its end, and has seen that it was copied back to its end. Another program that copies the WAL back, such as the sqlite3 shell, may break
 * this. The tap notices it: the salts of the new WAL are not the next ones, or the old WAL was not copied back when it was read last. The
 * changes are lost then, and are said to be.
 *
 * Frames behind the last commit are never read: those of a transaction that was rolled back or that a full disk has refused, those of an
 * older WAL, and zeros (wal-space.ts).
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { askWalState, type WalState } from './connection.ts';
import { endOnBrokenStorage } from './storage-failure.ts';
import type { WaitingPages } from './waiting-pages.ts';

/** Form of a WAL (https://www.sqlite.org/fileformat2.html#walformat). Sizes and offsets are in bytes. */
const WAL_HEADER_BYTES = 32;
const PAGE_SIZE_AT = 8;
const SALTS_AT = 16;
const FRAME_HEADER_BYTES = 24;
/** Offset in the header of a frame: the number of pages of the database after a commit, 0 in a frame that ends none. */
const DATABASE_PAGES_AT = 4;
const FRAME_SALTS_AT = 8;

/** Number of bytes that are read at once. The buffer is shared by the taps of a thread. */
const CHUNK_BYTES = 1024 * 1024;
let chunk: Buffer | undefined;

/** Size of the pages of a WAL in bytes, and the number of its frames up to the last commit. */
type Wal = { pageBytes: number; frames: number };

/** Two numbers that all frames of a WAL have. Each new beginning adds 1 to the first and draws the second. */
type Salts = { first: number; second: number };

export class WalTap {
  readonly #connection: Database;
  readonly #pages: WaitingPages;
  /** The WAL that was read last. */
  #salts: Salts | undefined;
  /** Number of its frames that were read. */
  #position = 0;
  /** True when the WAL was copied back completely when it was read last, so that it may begin anew. */
  #isCopiedBack = true;

  /** @param pages receives the pages of the commits that the WAL has now, unless `skipCopied` leaves them out, and of later ones */
  constructor(connection: Database, pages: WaitingPages) {
    this.#connection = connection;
    this.#pages = pages;
  }

  /**
   * Reads what was committed since the last call. No transaction is open.
   * @throws errors of SQLite, after which the changes are lost
   */
  read(): void {
    const { log, checkpointed } = this.#askFrames();
    // A WAL that begins anew has no frame until the first commit, and its file may still be the old one.
    if (log === 0) return;
    this.#readWal(log, (file, wal) => this.#readFrames(file, wal));
    this.#isCopiedBack = log === checkpointed;
  }

  /**
   * Leaves out the frames that were copied back already: whoever reads the database file from now on finds them there. It is called before the
   * first `read`. No transaction is open.
   * @throws errors of SQLite, after which the changes are lost
   */
  skipCopied(): void {
    const { log, checkpointed } = this.#askFrames();
    if (checkpointed === 0) return;
    this.#readWal(checkpointed, () => {});
    this.#isCopiedBack = log === checkpointed;
  }

  /** Returns the number of frames of the WAL, and of those of them that were copied back; 0 once the changes are lost. */
  #askFrames(): WalState {
    if (this.#pages.isLost) return { log: 0, checkpointed: 0 };
    const { log = 0, checkpointed = 0 } = this.#askState() ?? {};
    return { log: Math.max(log, 0), checkpointed: Math.max(checkpointed, 0) };
  }

  #askState(): ReturnType<typeof askWalState> {
    try {
      return askWalState(this.#connection);
    } catch (error) {
      this.#pages.lose();
      throw error;
    }
  }

  #readWal(frames: number, readFrames: (file: number, wal: Wal) => void): void {
    const path = `${this.#connection.name}-wal`;
    try {
      // SQLite locks no part of a WAL, so that closing it drops no lock.
      const file = openSync(path, 'r');
      try {
        const header = Buffer.alloc(WAL_HEADER_BYTES);
        readFully(file, header, 0);
        this.#recognise(readSalts(header, SALTS_AT));
        if (frames < this.#position) throw new Error('the WAL has fewer frames than were read');
        readFrames(file, { pageBytes: header.readUInt32BE(PAGE_SIZE_AT), frames });
        this.#position = frames;
      } finally {
        closeSync(file);
      }
    } catch (error) {
      endOnBrokenStorage(error, path);
      this.#pages.lose();
    }
  }

  /** Begins at the first frame when the WAL is another one than before. */
  #recognise(salts: Salts): void {
    const known = this.#salts;
    this.#salts = salts;
    if (!known || (salts.first === known.first && salts.second === known.second)) return;
    this.#position = 0;
    const isNext = salts.first === (known.first + 1) >>> 0;
    if (!isNext || !this.#isCopiedBack) this.#pages.lose();
  }

  #readFrames(file: number, { pageBytes, frames }: Wal): void {
    const frameBytes = FRAME_HEADER_BYTES + pageBytes;
    chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const perChunk = Math.floor(chunk.length / frameBytes);
    for (let position = this.#position; position < frames && !this.#pages.isLost; position += perChunk) {
      const count = Math.min(perChunk, frames - position);
      const octets = chunk.subarray(0, count * frameBytes);
      readFully(file, octets, WAL_HEADER_BYTES + position * frameBytes);
      this.#keepNewest(octets, frameBytes);
      if (position + count === frames) this.#pages.setSize(sizeAfter(octets, frameBytes));
    }
  }

  #keepNewest(octets: Buffer, frameBytes: number): void {
    const newest = new Map<number, number>();
    for (let at = 0; at < octets.length; at += frameBytes) {
      const { first, second } = readSalts(octets, at + FRAME_SALTS_AT);
      if (first !== this.#salts?.first || second !== this.#salts.second)
        throw new Error('a frame is not part of its WAL');
      newest.set(octets.readUInt32BE(at), at);
    }
    for (const [number, at] of newest)
      this.#pages.put(number, octets.subarray(at + FRAME_HEADER_BYTES, at + frameBytes));
  }
}

/** Returns the number of pages of the database after the commit that the last of these frames ends. */
function sizeAfter(octets: Buffer, frameBytes: number): number {
  const size = octets.readUInt32BE(octets.length - frameBytes + DATABASE_PAGES_AT);
  if (size === 0) throw new Error('the last frame of a WAL ends no commit');
  return size;
}

function readSalts(octets: Buffer, at: number): Salts {
  return { first: octets.readUInt32BE(at), second: octets.readUInt32BE(at + 4) };
}

/** @throws Error when the file ends before */
function readFully(file: number, octets: Buffer, at: number): void {
  for (let done = 0; done < octets.length; ) {
    const bytes = readSync(file, octets, done, octets.length - done, at + done);
    if (bytes === 0) throw new Error('the WAL is shorter than its frames');
    done += bytes;
  }
}
