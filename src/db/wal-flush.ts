/**
 * Flushes the WAL of a database that one connection has for itself, after each commit that has added to it.
 *
 * SQLite can do so during COMMIT, but better-sqlite3 is compiled to call fsync(2), which stores the time of the last change of the file too.
 * On ext4, that is a commit of the journal of the whole file system, also when the file has not grown (wal-space.ts). fdatasync(2) stores what is
 * needed to read the frames. The connection sees its commit before it is flushed, so nobody may read from the database in between.
 */
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { errorCode } from '../system/errors.ts';
import { askWalState, type WalState } from './connection.ts';

/** Codes of `open` while no descriptor is free. No flush was tried then. */
const NO_DESCRIPTOR = new Set(['EMFILE', 'ENFILE']);

export class WalFlush {
  readonly #connection: Database;
  readonly #flushFile: (path: string) => void;
  #flushed: WalState | undefined;

  /**
   * Takes the flushes of commits over from SQLite, which flushes around checkpoints as before.
   * @param flushFile makes the data of a file durable
   */
  constructor(connection: Database, flushFile: (path: string) => void = flushData) {
    connection.pragma('synchronous = NORMAL');
    this.#connection = connection;
    this.#flushFile = flushFile;
  }

  /** State of the WAL after the last flush; undefined when something else has changed it since. */
  get state(): WalState | undefined {
    return this.#flushed;
  }

  /**
   * Flushes what the last commit has added. A transaction that has changed nothing costs no flush.
   * @throws Error of the file system, after which nobody knows what is on disk
   */
  flush(): void {
    const state = askWalState(this.#connection);
    const { log, checkpointed } = this.#flushed ?? { log: 0, checkpointed: 0 };
    if (state?.log === log && state.checkpointed === checkpointed) return;
    try {
      this.#flushFile(`${this.#connection.name}-wal`);
      this.#flushed = state;
    } catch (error) {
      if (!NO_DESCRIPTOR.has(errorCode(error) ?? '')) throw error;
      this.#flushByCheckpoint(error);
    }
  }

  /** SQLite has the WAL open, and flushes it before it copies it back. Nothing reads this database, so all of it is copied back. */
  #flushByCheckpoint(reason: unknown): void {
    this.forget();
    const [state] = this.#connection.pragma('wal_checkpoint(PASSIVE)') as (WalState & { busy: number })[];
    if (state?.busy !== 0 || state.log !== state.checkpointed) throw reason;
  }

  /** Forgets the state, because something else changes the WAL: after a checkpoint, the next commit may begin it anew. */
  forget(): void {
    this.#flushed = undefined;
  }
}

/** The descriptor is not kept, because hundreds of databases are open at once. SQLite has no locks on a WAL that closing it could drop. */
function flushData(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}
