/** A database of a writer thread: its only writing connection, and the writes that wait for it. */
import { dirname } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { realClock } from '../system/clock.ts';
import type { CrashPoint } from '../system/crash-point.ts';
import { groupByPort } from './answers.ts';
import type { CollectedPages } from './changed-pages.ts';
import { CHECKPOINT_PAGES, checkpointWhenLong, openWriting } from './connection.ts';
import { type CopyPace, copyDatabase } from './copy-database.ts';
import { kyselyOn } from './dialect.ts';
import { flushPath } from './flush-files.ts';
import {
  type InstallationSession,
  openInstallation,
  type StartedInstallation,
} from './installation/session.ts';
import { advanceInstallation } from './installation/store.ts';
import { migrate } from './migrate.ts';
import { crashPointOf, priorityOf } from './operation.ts';
import { endOnBrokenStorage } from './storage-failure.ts';
import { TableChanges } from './table-changes.ts';
import type { Answer, Request, WritingOptions } from './thread-messages.ts';
import { createPageBudget, WaitingPages } from './waiting-pages.ts';
import { WaitingWrites } from './waiting-writes.ts';
import { WalTap } from './wal-tap.ts';
import { createGroupCommit, type Reach } from './write-group.ts';

/** A request, and the port that its answer goes to. */
type WaitingRequest = Request & { port: MessagePort };

/**
 * Number of groups, and size of their inputs, after which the length of the WAL is asked for. The answer costs as much as a small write,
 * and eight groups add at most a few megabytes to a WAL of 16.
 */
const GROUPS_PER_CHECK = 8;
const BYTES_PER_CHECK = 1024 * 1024;

export class WriterDatabase {
  /** The installation as the start found it; undefined for a database without one. */
  readonly started: StartedInstallation | undefined;
  readonly #file: string;
  readonly #connection: Database;
  readonly #installation: InstallationSession | undefined;
  readonly #commitGroup: (group: readonly Request[]) => Promise<Answer[]>;
  readonly #countChanges: (() => void) | undefined;
  readonly #waiting = new WaitingWrites<WaitingRequest>(priorityOf);
  /** Memory that has moved here with the writes of the last group. */
  #given: ArrayBuffer[] = [];
  /** Gathers the pages that change while somebody follows the database. */
  #followed: { pages: WaitingPages; tap: WalTap } | undefined;
  /** The groups since the length of the WAL was asked for. */
  #unchecked = { groups: 0, bytes: 0 };

  /**
   * Opens the database, creates it when it does not exist, and migrates it.
   * @throws DataDirectoryError, SchemaVersionError, errors of SQLite
   */
  constructor(options: WritingOptions, crashPoint: CrashPoint) {
    const { file, nowMs } = options;
    this.#file = file;
    this.#installation = options.installation && openInstallation({ file, nowMs, ...options.installation });
    this.#connection = openWriting(file, options.synchronous);
    try {
      this.#installation?.check(this.#connection);
      migrate(this.#connection, nowMs, options.schema);
      this.#makeDurable(nowMs);
      this.started = this.#installation?.begin(this.#connection);
    } catch (error) {
      this.#connection.close();
      throw error;
    }
    this.#countChanges = options.changes && new TableChanges(options.changes).watch(this.#connection);
    this.#commitGroup = createGroupCommit(this.#connection, kyselyOn<unknown>(this.#connection), {
      reach: this.#createReach(crashPoint),
      clock: realClock,
    });
  }

  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Queues requests that came from this port. */
  add(requests: readonly Request[], port: MessagePort): void {
    for (const request of requests) this.#waiting.add({ ...request, port });
  }

  /**
   * Runs the next group of waiting writes, in one transaction. It returns the answers for each port once the group is
   * on disk.
   * @throws when the database cannot be used any more
   */
  async runNextGroup(): Promise<Map<MessagePort, Answer[]>> {
    const group = this.#waiting.nextGroup();
    const answers = await this.#commitGroup(group);
    const ran = group.slice(0, answers.length);
    this.#waiting.remove(ran);
    this.#unchecked.groups++;
    for (const { sizeBytes, given = [] } of ran) {
      this.#unchecked.bytes += sizeBytes;
      this.#given.push(...given);
    }
    return groupByPort(ran, answers);
  }

  /**
   * Frees the memory that has moved here with the last group, whose answers were sent. The collector would free it too, but only when it
   * collects the whole heap, which a hundred messages of 100 KiB made it do each time.
   */
  freeGiven(): void {
    for (const memory of this.#given.splice(0)) memory.transfer(0);
  }

  /**
   * Copies the WAL back when it is long. It is done here, because SQLite does not report an automatic checkpoint that
   * failed. A tap reads along with the WAL, so that neither a collection nor a checkpoint has much to read.
   */
  checkpoint(): void {
    const { groups, bytes } = this.#unchecked;
    if (groups < GROUPS_PER_CHECK && bytes < BYTES_PER_CHECK) return;
    this.#unchecked = { groups: 0, bytes: 0 };
    try {
      this.#followed?.tap.read();
      checkpointWhenLong(this.#connection, CHECKPOINT_PAGES, {
        before: () => this.#installation?.beforeCheckpoint(this.#connection),
        after: () => {
          this.#installation?.afterCheckpoint();
          this.#followed?.tap.read();
        },
      });
    } catch (error) {
      endOnBrokenStorage(error, this.#file);
      throw error;
    }
  }

  /** Copies the database to a file, in steps between which writes go on. */
  copyTo(file: string, pace: CopyPace): Promise<void> {
    return copyDatabase(this.#connection, file, pace);
  }

  /**
   * Begins to gather the pages that change, without those that were gathered before, or ends that. The pages that the WAL has and the file
   * has not are among them. It runs between two groups.
   */
  followPages(isFollowed: boolean): void {
    this.#followed = undefined;
    if (!isFollowed) return;
    const pages = new WaitingPages(createPageBudget());
    const tap = new WalTap(this.#connection, pages);
    tap.skipCopied();
    this.#followed = { pages, tap };
  }

  /** Returns the pages that have changed since the last call, by the commits so far. It runs between two groups. */
  collectPages(): CollectedPages {
    if (!this.#followed) return 'lost';
    this.#followed.tap.read();
    return this.#followed.pages.take();
  }

  /**
   * Closes the database. It does not wait for a foreign reader, such as a backup: the WAL then stays, and the next
   * start copies it back.
   */
  close(): void {
    this.#installation?.end(this.#connection);
    this.#connection.pragma('busy_timeout = 0');
    this.#connection.pragma('wal_checkpoint(TRUNCATE)');
    this.#connection.close();
  }

  /** Makes the start durable: afterwards the database, its WAL and their names survive a power cut. */
  #makeDurable(nowMs: number): void {
    const connection = this.#connection;
    connection.transaction(() => {
      connection.exec('CREATE TABLE IF NOT EXISTS starts (at INTEGER NOT NULL) STRICT');
      connection.exec('DELETE FROM starts');
      connection.prepare('INSERT INTO starts VALUES (?)').run(nowMs);
      this.#installation?.record(connection);
    })();
    const [checkpoint] = connection.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    if (checkpoint?.busy === 0) this.#installation?.afterCheckpoint();
    flushPath(`${this.#file}-wal`);
    flushPath(dirname(this.#file));
    flushPath(dirname(dirname(this.#file)));
  }

  #createReach(crashPoint: CrashPoint): Reach {
    return (group, moment) => {
      if (moment === 'afterCommit') this.#countChanges?.();
      for (const { operation } of group) {
        const point = crashPointOf(operation, moment);
        if (point !== undefined) crashPoint(point);
        if (moment === 'afterCommit' && operation === advanceInstallation.name)
          this.#installation?.follow(this.#connection);
      }
    };
  }
}
