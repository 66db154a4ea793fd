/**
 * The database of a simulation: the real schema and the real writes in memory, in this thread. Commits take virtual time, may be refused,
 * and are lost with the run of the daemon that has asked for them. A trigger reports every committed change of a recipient's state.
 */
import type { Database } from 'better-sqlite3';
import { takeRequestedWakeups } from '../../src/db/commit-wakeups.ts';
import type { Db } from '../../src/db/database.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { Read, Tx, Write } from '../../src/db/operation.ts';
import type { RecipientState } from '../../src/db/tables.ts';
import type { Answer, Request } from '../../src/db/thread-messages.ts';
import { createGroupCommit } from '../../src/db/write-group.ts';
import { decodeError } from '../../src/system/encoded-error.ts';
import type { Wakeups } from '../../src/system/wakeups.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';
import type { Observe } from './observation.ts';
import type { VirtualTime } from './virtual-time.ts';

type Settlers = { resolve(value: unknown): void; reject(error: unknown): void };
type Waiting = { request: Request } & Settlers;

/** The parts of the database that differ between simulations. */
export type DatabaseWorld = {
  time: VirtualTime;
  observe: Observe;
  /** Returns the time that the next commit takes. */
  drawCommitMs(): number;
  /** Returns true when the next commit is refused. */
  failsCommit(): boolean;
};

/** One run of the daemon, as the database sees it. */
export type DatabaseRun = { db: Db; kill(): void };

/** Maximum number of writes in a group, as in the writer thread (db/waiting-writes.ts). */
const MAX_GROUP = 256;
/** SQLite's words for a full disk. */
const FULL = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });

/** Values that the trigger passes: the address, both states, and the other columns of `RecipientFacts`. */
type Changed = [string, RecipientState, RecipientState, number, number, number | null, number];

/**
 * One connection serves all simulations of a process, because preparing the statements again costs more than most simulations. Each
 * simulation is one transaction of SQLite, which is rolled back at its end; what the daemon commits are savepoints in it.
 */
export class SimulatedDatabase {
  readonly #connection: Database;
  readonly #read: Tx;
  readonly #commitGroup: (group: readonly Request[]) => Promise<Answer[]>;
  #world: DatabaseWorld | undefined;
  /** The group that runs. No query runs meanwhile. */
  #group: Promise<unknown> | undefined;
  #changes: Changed[] = [];
  /** Number of changes at the savepoint of a single write. */
  #changesBefore = 0;

  constructor() {
    const { database } = openMemoryDatabase();
    this.#connection = database;
    this.#translateTransactions();
    this.#watchRecipients();
    this.#read = kyselyOn(database, async (query) => {
      while (this.#group !== undefined) await this.#group;
      return query();
    });
    this.#commitGroup = createGroupCommit(database, kyselyOn<unknown>(database), {
      clock: { elapsed: () => 0 },
      reach: (group, moment) => {
        if (moment === 'afterCommit') this.#publish();
        else if (this.#world?.failsCommit()) {
          this.#world.observe({ kind: 'commit-failed', writes: group.map(({ operation }) => operation) });
          throw FULL;
        }
      },
    });
  }

  /** Committed data, for the checks. */
  get read(): Tx {
    return this.#read;
  }

  begin(world: DatabaseWorld): void {
    this.#world = world;
    this.#connection.exec('SAVEPOINT simulation');
  }

  async end(): Promise<void> {
    while (this.#group !== undefined) await this.#group;
    this.#world = undefined;
    this.#connection.exec('ROLLBACK TO simulation');
    this.#connection.exec('RELEASE simulation');
  }

  /** Runs a write of the simulation itself, at once and without a fault. */
  async commitNow<Input, Result>(write: Write<Input, Result>, input: Input): Promise<Result> {
    while (this.#group !== undefined) await this.#group;
    const world = this.#world;
    if (world) this.#world = { ...world, failsCommit: () => false };
    const [answer] = await this.#runGroup([{ id: 0, operation: write.name, input, sizeBytes: 0 }]);
    this.#world = world;
    if (answer && 'error' in answer) throw decodeError(answer.error);
    return (answer as { value: unknown } | undefined)?.value as Result;
  }

  /** Opens the database for a run of the daemon. `afterCommit` runs after each group. */
  open(wakeups: Pick<Wakeups, 'notify'>, { afterCommit }: { afterCommit(): Promise<void> }): DatabaseRun {
    const world = this.#world;
    if (!world) throw new Error('no simulation has begun');
    let isDead = false;
    let isScheduled = false;
    let lastId = 0;
    const waiting: Waiting[] = [];

    const schedule = () => {
      if (isScheduled || waiting.length === 0) return;
      isScheduled = true;
      world.time.after(world.drawCommitMs(), () => void runGroup());
    };
    const runGroup = async () => {
      if (isDead) return;
      const group = waiting.splice(0, MAX_GROUP);
      const answers = await this.#runGroup(group.map(({ request }) => request));
      await afterCommit();
      const requested = takeRequestedWakeups();
      isScheduled = false;
      schedule();
      // The daemon may be killed between the commit and the answer.
      world.time.after(world.drawCommitMs(), () => {
        if (isDead) return;
        for (const [index, answer] of answers.entries()) {
          if ('error' in answer) group[index]!.reject(decodeError(answer.error));
          else group[index]!.resolve(answer.value);
        }
        for (const [name, subjects] of requested) wakeups.notify(name, subjects);
      });
    };
    const commit = (write: Write<never, unknown>, input: unknown) =>
      new Promise<unknown>((resolve, reject) => {
        if (isDead) return;
        const request = { id: ++lastId, operation: write.name, input: structuredClone(input), sizeBytes: 0 };
        waiting.push({ request, resolve, reject });
        schedule();
      });
    const query = async <Input, Result>(read: Read<Input, Result>, input: Input): Promise<Result> => {
      await new Promise<void>((resolve) => world.time.after(1, resolve));
      return isDead ? never() : read.run(this.#read, input);
    };
    const db = {
      read: this.#read,
      commit,
      commitInBackground: (write: Write<never, unknown>, input: unknown) =>
        void commit(write, input).catch(() => {}),
      query,
      pendingWrites: 0,
      pendingBytes: 0,
      lagMs: 0,
      writerSilentMs: 0,
      readerSilentMs: 0,
      failed: never<Error>(),
      startReader: async () => {},
      changes: { count: () => 0 },
    };
    return {
      db: db as unknown as Db,
      kill: () => {
        isDead = true;
      },
    };
  }

  async #runGroup(group: readonly Request[]): Promise<Answer[]> {
    while (this.#group !== undefined) await this.#group;
    const running = this.#commitGroup(group);
    this.#group = running.finally(() => {
      this.#group = undefined;
    });
    return running;
  }

  /** The group commit begins and ends transactions, which are savepoints here. */
  #translateTransactions(): void {
    const connection = this.#connection;
    const exec = connection.exec.bind(connection);
    connection.exec = (sql) => {
      switch (sql) {
        case 'BEGIN IMMEDIATE':
          this.#changes = [];
          return exec('SAVEPOINT one_group');
        case 'COMMIT':
          return exec('RELEASE one_group');
        case 'ROLLBACK':
          this.#changes = [];
          exec('ROLLBACK TO one_group');
          return exec('RELEASE one_group');
        case 'SAVEPOINT one_write':
          this.#changesBefore = this.#changes.length;
          return exec(sql);
        case 'ROLLBACK TO one_write':
          this.#changes.length = this.#changesBefore;
          return exec(sql);
        default:
          return exec(sql);
      }
    };
  }

  #watchRecipients(): void {
    this.#connection.function('simulation_changed', { varargs: true }, (...values: unknown[]) => {
      this.#changes.push(values as Changed);
      return null;
    });
    this.#connection.exec(`CREATE TEMP TRIGGER simulation_changes AFTER UPDATE OF state ON main.recipients
      WHEN old.state <> new.state BEGIN SELECT simulation_changed(new.address, old.state, new.state, new.attempts,
      new.interruptedAttempts, new.dueAt, (SELECT expiresAt FROM messages WHERE id = new.messageId)); END`);
  }

  #publish(): void {
    const changes = this.#changes;
    this.#changes = [];
    for (const [address, from, to, attempts, interruptedAttempts, dueAt, expiresAt] of changes) {
      const facts = { address, attempts, interruptedAttempts, dueAt, expiresAt };
      this.#world?.observe({ kind: 'changed', from, to, ...facts });
    }
  }
}

function never<Value>(): Promise<Value> {
  return new Promise(() => {});
}
