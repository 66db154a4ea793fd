/**
 * A database whose only connection belongs to the thread that opens it, such as that of a mailbox. Writes that arrive in one
 * turn of the event loop share a commit. A query never sees a transaction that is open: it waits until that has ended.
 */
import type { Database } from 'better-sqlite3';
import type { Clock, Timer } from '../system/clock.ts';
import type { CrashPoint } from '../system/crash-point.ts';
import { decodeError } from '../system/encoded-error.ts';
import { AppError, errorCode, errorMessage } from '../system/errors.ts';
import { nextSlice } from '../system/slices.ts';
import { checkpointWhenLong, openPrivate } from './connection.ts';
import { CopyPace, copyDatabase, flushCopy } from './copy-database.ts';
import { kyselyOn, type RunQuery } from './dialect.ts';
import { inputBytes } from './input-bytes.ts';
import { migrate, type Schema } from './migrate.ts';
import { crashPointOf, priorityOf, type Tx, type Write } from './operation.ts';
import { endOnBrokenStorage, isDamagedDatabase, recogniseQuota } from './storage-failure.ts';
import type { Request } from './thread-messages.ts';
import type { WaitingPages } from './waiting-pages.ts';
import { WaitingWrites } from './waiting-writes.ts';
import { WalFlush } from './wal-flush.ts';
import { WalSpace } from './wal-space.ts';
import { WalTap } from './wal-tap.ts';
import { createGroupCommit } from './write-group.ts';

/**
 * Reports that the content of a database file is damaged. Only this database is lost until it is repaired; the disk works, and
 * so does everything else.
 */
export class DamagedDatabaseError extends Error {
  override readonly name = 'DamagedDatabaseError';
  readonly file: string;

  constructor(file: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.file = file;
  }
}

export type PrivateDatabase<Schema> = {
  readonly file: string;
  /**
   * Queries on committed data. Each sees one state. Several that must see the same state run in a write that changes
   * nothing, which costs no flush.
   */
  readonly read: Tx<Schema>;
  /**
   * Runs a write; resolves with its result when it is durable, rejects with its refusal.
   *
   * @param onCommitted is called right after the COMMIT, in the order of the writes, so that changes are published in the order
   * of their numbers. It does not throw.
   */
  commit<Input, Result>(
    write: Write<Input, Result, Schema>,
    input: Input,
    onCommitted?: (result: Result) => void,
  ): Promise<Result>;
  /** Resolves when the database turned out to be damaged. Everything is then refused with this error. */
  readonly damaged: Promise<DamagedDatabaseError>;
  /** Runs a statement that is neither a query nor a write, such as a check, between transactions. */
  maintain<Result>(work: (connection: Database) => Result): Promise<Result>;
  /**
   * Copies the database to a file that does not exist, in steps between which writes go on.
   * @throws errors of SQLite and of the file system, which leave the database as it is
   */
  copyTo(file: string): Promise<void>;
  /**
   * Begins to gather the pages that the WAL has and the file has not, and those of later commits, for one follower, or ends that with
   * undefined.
   */
  followPages(follower: PageFollower | undefined): Promise<void>;
  /** Hands the pages of all commits so far to the follower. When the database is closed, it has them. */
  gatherPages(): Promise<void>;
  /** Copies the WAL back into the file. */
  copyBack(): Promise<void>;
  /** Waits for the writes that were asked for, copies the WAL back and closes the database. */
  close(): Promise<void>;
};

/** Follows the changes of a database. */
type PageFollower = {
  /** Receives the pages, at the latest when the WAL is copied back. */
  pages: WaitingPages;
  /** Is called after each commit, whose pages have not been handed over yet. */
  onCommit(): void;
};

type PrivateOptions = {
  file: string;
  schema: Schema;
  nowMs: number;
  /** Keeps space for the WAL ahead of the commits, each of which is flushed (wal-space.ts). */
  keepsWalSpace?: boolean;
  /** False when a power cut may take the last commits, which are not flushed then. */
  isDurable?: boolean;
};

type PrivateSystem = { clock: Pick<Clock, 'elapsed' | 'after'>; crashPoint: CrashPoint };

/**
 * Length of the WAL, in pages of 4 KiB, at which it is copied back once nothing is written: 4 MiB, because hundreds of databases have
 * one. Copying delays whoever writes by several milliseconds.
 */
export const IDLE_CHECKPOINT_PAGES = 1_000;
/** Time without a write after which it is copied back, in milliseconds. */
export const IDLE_CHECKPOINT_MS = 100;
/** Length at which it is copied back at once: 10 MiB. */
const CHECKPOINT_PAGES = 2_500;

/**
 * Opens a database, creates it when it does not exist, and migrates it. `Schema` is the type of its tables.
 * @throws DamagedDatabaseError, SchemaVersionError, errors of SQLite
 */
export function openPrivateDatabase<Schema>(
  system: PrivateSystem,
  { file, schema, nowMs, keepsWalSpace = false, isDurable = true }: PrivateOptions,
): PrivateDatabase<Schema> {
  let connection: Database | undefined;
  try {
    connection = openPrivate(file);
    migrate(connection, nowMs, schema);
    const walSpace = keepsWalSpace ? new WalSpace(`${file}-wal`) : undefined;
    const flush = new WalFlush(connection);
    const walFlush = isDurable ? flush : undefined;
    return new OpenDatabase<Schema>(system, { file, connection, walSpace, walFlush });
  } catch (error) {
    connection?.close();
    throw asDamage(error, file);
  }
}

/** Frees the page cache, about 80 KiB, of a database that is not used at the moment. */
export async function releaseMemory(db: Pick<PrivateDatabase<never>, 'maintain'>): Promise<void> {
  await db.maintain((connection) => connection.pragma('shrink_memory'));
}

/** Returns the error that callers get, and ends the process when the disk has failed. */
function asDamage(error: unknown, file: string): unknown {
  const failure = recogniseQuota(error, file);
  endOnBrokenStorage(failure, file);
  if (!isDamagedDatabase(errorCode(failure) ?? '')) return failure;
  return new DamagedDatabaseError(file, `${file} is damaged: ${errorMessage(failure)}`, { cause: failure });
}

type WaitingWrite = Request & {
  onCommitted: ((result: never) => void) | undefined;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
};

type Opened = {
  file: string;
  connection: Database;
  walSpace: WalSpace | undefined;
  /** Undefined for a database whose commits are not flushed. */
  walFlush: WalFlush | undefined;
};

class OpenDatabase<Schema> implements PrivateDatabase<Schema> {
  readonly file: string;
  readonly read: Tx<Schema>;
  readonly damaged: Promise<DamagedDatabaseError>;
  readonly #clock: PrivateSystem['clock'];
  readonly #connection: Database;
  readonly #walSpace: WalSpace | undefined;
  readonly #walFlush: WalFlush | undefined;
  readonly #crashPoint: CrashPoint;
  readonly #waiting = new WaitingWrites<WaitingWrite>(priorityOf);
  readonly #commitGroup: ReturnType<typeof createGroupCommit>;
  readonly #reportDamage: (error: DamagedDatabaseError) => void;
  #damage: DamagedDatabaseError | undefined;
  /** The follower that was asked for last, and the one that follows. */
  #wantedFollower: PageFollower | undefined;
  #follower: (PageFollower & { tap: WalTap }) | undefined;
  /** The group that runs. No query runs meanwhile. */
  #group: Promise<void> | undefined;
  /** The loop that runs groups while writes wait. */
  #loop: Promise<void> | undefined;
  /** Runs while the WAL is long and nothing is written. */
  #idle: Timer | undefined;
  #isClosed = false;
  #lastId = 0;

  constructor({ clock, crashPoint }: PrivateSystem, { file, connection, walSpace, walFlush }: Opened) {
    this.file = file;
    this.#walFlush = walFlush;
    this.#walSpace = walSpace;
    this.#clock = clock;
    this.#connection = connection;
    this.#crashPoint = crashPoint;
    const { promise, resolve } = Promise.withResolvers<DamagedDatabaseError>();
    this.damaged = promise;
    this.#reportDamage = resolve;
    this.read = kyselyOn<Schema>(connection, this.#runQuery);
    this.#commitGroup = createGroupCommit(connection, kyselyOn<unknown>(connection), {
      clock,
      flush: walFlush && (() => walFlush.flush()),
      reach(group, moment) {
        for (const { operation } of group) {
          const point = crashPointOf(operation, moment);
          if (point !== undefined) crashPoint(point);
        }
      },
    });
  }

  commit<Input, Result>(
    write: Write<Input, Result, Schema>,
    input: Input,
    onCommitted?: (result: Result) => void,
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#requireUsable();
      this.#idle?.cancel();
      const id = ++this.#lastId;
      const request = { id, operation: write.name, input, sizeBytes: inputBytes(input) };
      this.#waiting.add({ ...request, onCommitted, resolve, reject });
      this.#loop ??= this.#runGroups();
    });
  }

  maintain<Result>(work: (connection: Database) => Result): Promise<Result> {
    return this.#runQuery(() => {
      this.#walFlush?.forget();
      return work(this.#connection);
    });
  }

  async copyTo(file: string): Promise<void> {
    this.#requireUsable();
    const pace = new CopyPace();
    await flushCopy(file, pace, copyDatabase(this.#connection, file, pace));
  }

  async followPages(follower: PageFollower | undefined): Promise<void> {
    this.#wantedFollower = follower;
    if (!follower) {
      this.#follower = undefined;
      return;
    }
    // The state of the WAL is known when no transaction is open. Nothing waits when the database was just opened.
    while (this.#group !== undefined) await this.#group;
    if (this.#isClosed || this.#wantedFollower !== follower) return;
    const tap = new WalTap(this.#connection, follower.pages);
    tap.skipCopied();
    this.#follower = { ...follower, tap };
  }

  async gatherPages(): Promise<void> {
    while (this.#group !== undefined) await this.#group;
    if (this.#isClosed) return;
    try {
      this.#follower?.tap.read();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  copyBack(): Promise<void> {
    return this.#runQuery(() => void this.#checkpoint(0));
  }

  async close(): Promise<void> {
    while (this.#loop !== undefined) await this.#loop;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#idle?.cancel();
    try {
      this.#follower?.tap.read();
      if (!this.#damage) this.#connection.pragma('wal_checkpoint(TRUNCATE)');
    } catch (error) {
      // Pages that could not be copied back stay in the WAL.
      endOnBrokenStorage(error, this.file);
    } finally {
      this.#connection.close();
    }
  }

  readonly #runQuery: RunQuery = async (query) => {
    while (this.#group !== undefined) await this.#group;
    this.#requireUsable();
    try {
      return query();
    } catch (error) {
      throw this.#explain(error);
    }
  };

  #requireUsable(): void {
    if (this.#damage) throw this.#damage;
    if (this.#isClosed) throw new AppError('unavailable', 'The database is closed', { retryAfterSeconds: 1 });
  }

  /** Returns the error that the caller gets. */
  #explain(error: unknown): unknown {
    const failure = asDamage(error, this.file);
    if (!(failure instanceof DamagedDatabaseError)) return failure;
    this.#damage ??= failure;
    this.#reportDamage(this.#damage);
    return this.#damage;
  }

  /** Runs groups until no write waits. Each begins in a turn of its own, so that the writes of a turn share it. */
  async #runGroups(): Promise<void> {
    while (this.#waiting.size > 0) {
      await nextSlice();
      this.#group = this.#runGroup();
      await this.#group;
      this.#group = undefined;
    }
    this.#loop = undefined;
  }

  async #runGroup(): Promise<void> {
    const group = this.#waiting.nextGroup();
    try {
      if (this.#damage) throw this.#damage;
      const answers = await this.#commitGroup(group);
      this.#follower?.onCommit();
      this.#waiting.remove(group.slice(0, answers.length));
      for (const [index, answer] of answers.entries()) {
        const { onCommitted, resolve, reject } = group[index] as WaitingWrite;
        if ('error' in answer) {
          reject(decodeError(answer.error));
          continue;
        }
        onCommitted?.(answer.value as never);
        resolve(answer.value as never);
      }
      const pages = this.#checkpoint(CHECKPOINT_PAGES);
      this.#walSpace?.extend(pages);
      if (pages >= IDLE_CHECKPOINT_PAGES) this.#checkpointWhenIdle();
    } catch (error) {
      const failure = this.#explain(error);
      this.#waiting.remove(group);
      // A write that was answered already is not affected by its rejection.
      for (const { reject } of group) reject(failure);
    }
  }

  #checkpoint(pages: number): number {
    return checkpointWhenLong(this.#connection, pages, {
      before: () => {
        this.#walFlush?.forget();
        this.#crashPoint('private-checkpoint-before');
      },
      after: () => {
        this.#crashPoint('private-checkpoint-after');
        this.#follower?.tap.read();
      },
      wal: this.#walFlush?.state,
    });
  }

  /** A write that comes first cancels it. */
  #checkpointWhenIdle(): void {
    this.#idle?.cancel();
    this.#idle = this.#clock.after(IDLE_CHECKPOINT_MS, () => {
      if (this.#loop !== undefined || this.#isClosed || this.#damage) return;
      try {
        this.#checkpoint(IDLE_CHECKPOINT_PAGES);
      } catch (error) {
        this.#explain(error);
      }
    });
  }
}
