/**
 * Named operations. A write or a long read is defined once, beside the table that it belongs to, and runs in another
 * thread by its name, so that only data crosses between threads, never code. An operation of another database than the
 * main one names the type of its tables: `async (tx: Tx<OtherTables>, input) => …`.
 */
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * A connection to a database with these tables, those of the main database unless others are named: inside a
 * transaction of the writer thread, or read-only.
 */
export type Tx<Schema = Tables> = Kysely<Schema>;

type Operation<Input, Result, Schema = Tables> = {
  readonly name: string;
  run(tx: Tx<Schema>, input: Input): Promise<Result>;
};

/**
 * A write. It runs in the writer thread, inside the transaction of its group, and takes effect completely or, when it
 * throws, not at all. It may read and decide on consistent data, and it awaits nothing but `tx`; a long write of a private
 * database (private-database.ts) also awaits the next turn, because nothing but its own database waits for it. Times
 * come with its input. It may run twice (db/write-group.ts), and the first run leaves no trace, so it changes nothing
 * but `tx`: no variable of its module, and not its input. It may draw ids and random values, because those of the first
 * run are rolled back with everything else.
 */
export type Write<Input, Result, Schema = Tables> = Operation<Input, Result, Schema> & {
  readonly kind: 'write';
};

/** A long read. It runs in a reader thread. */
export type Read<Input, Result, Schema = Tables> = Operation<Input, Result, Schema> & {
  readonly kind: 'read';
};

/** Right before and right after the COMMIT of the group that a write is part of. */
export type CommitMoment = 'beforeCommit' | 'afterCommit';

/**
 * When a waiting write runs. `urgent` is for a small write that somebody waits for and that must not wait for the load of
 * others: an unsubscribe, a pause. `bulk` is for a long write of background work: the others run before it.
 */
export type WritePriority = 'urgent' | 'ordinary' | 'bulk';

export type WriteOptions = {
  /** `ordinary` by default. */
  priority?: WritePriority;
  /** Points at which a fault test ends the process (system/crash-point.ts). */
  crashPoints?: Partial<Record<CommitMoment, string>>;
};

/** An operation as the threads know it: they find it by name, so they do not know its types. */
type Registered = WriteOptions & { run(tx: Tx<unknown>, input: unknown): Promise<unknown> };

const operations = new Map<string, Registered>();

/**
 * Defines a write.
 * @throws Error when another operation has the same name
 */
export function defineWrite<Input, Result, Schema = Tables>(
  name: string,
  run: (tx: Tx<Schema>, input: Input) => Promise<Result>,
  options: WriteOptions = {},
): Write<Input, Result, Schema> {
  register(name, { run: run as Registered['run'], ...options });
  return { kind: 'write', name, run };
}

/**
 * Defines a long read.
 * @throws Error when another operation has the same name
 */
export function defineRead<Input, Result, Schema = Tables>(
  name: string,
  run: (tx: Tx<Schema>, input: Input) => Promise<Result>,
): Read<Input, Result, Schema> {
  register(name, { run: run as Registered['run'] });
  return { kind: 'read', name, run };
}

/**
 * Returns an operation.
 * @throws Error when `operations.ts` of no feature imports its module
 */
export function findOperation(name: string): Registered {
  const operation = operations.get(name);
  if (!operation)
    throw new Error(
      `operation "${name}" is not known here; does operations.ts of its feature import its module?`,
    );
  return operation;
}

/** Returns the name of the crash point that the operation has at this moment; undefined when it has none. */
export function crashPointOf(name: string, moment: CommitMoment): string | undefined {
  return operations.get(name)?.crashPoints?.[moment];
}

/** Returns the priority of a write. */
export function priorityOf(name: string): WritePriority {
  return operations.get(name)?.priority ?? 'ordinary';
}

function register(name: string, operation: Registered): void {
  if (operations.has(name)) throw new Error(`operation "${name}" is defined twice`);
  operations.set(name, operation);
}
