/**
 * Named operations. A write or a long read is defined once, beside the table that it belongs to, and runs in another
 * thread by its name, so that only data crosses between threads, never code.
 */
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** A connection: inside a transaction of the writer thread, or read-only. */
export type Tx = Kysely<Tables>;

export type Operation<Input, Result> = {
  readonly name: string;
  run(tx: Tx, input: Input): Promise<Result>;
};

/**
 * A write. It runs in the writer thread, inside the transaction of its group, and takes effect completely or, when it
 * throws, not at all. It may read and decide on consistent data, and it awaits nothing but `tx`. Ids, times and
 * random values come with its input. It may run twice (db/write-group.ts), and the first run leaves no trace, so it
 * changes nothing but `tx`: no variable of its module, and not its input.
 */
export type Write<Input, Result> = Operation<Input, Result> & { readonly kind: 'write' };

/** A long read. It runs in a reader thread. */
export type Read<Input, Result> = Operation<Input, Result> & { readonly kind: 'read' };

type Run = (tx: Tx, input: never) => Promise<unknown>;

const operations = new Map<string, Run>();

/**
 * Defines a write.
 * @throws Error when another operation has the same name
 */
export function defineWrite<Input, Result>(
  name: string,
  run: (tx: Tx, input: Input) => Promise<Result>,
): Write<Input, Result> {
  register(name, run);
  return { kind: 'write', name, run };
}

/**
 * Defines a long read.
 * @throws Error when another operation has the same name
 */
export function defineRead<Input, Result>(
  name: string,
  run: (tx: Tx, input: Input) => Promise<Result>,
): Read<Input, Result> {
  register(name, run);
  return { kind: 'read', name, run };
}

/**
 * Returns the function of an operation.
 * @throws Error when no module in src/operations.ts defines it
 */
export function findOperation(name: string): (tx: Tx, input: unknown) => Promise<unknown> {
  const run = operations.get(name);
  if (!run)
    throw new Error(`operation "${name}" is not known here; is its module listed in src/operations.ts?`);
  return run as (tx: Tx, input: unknown) => Promise<unknown>;
}

function register(name: string, run: Run): void {
  if (operations.has(name)) throw new Error(`operation "${name}" is defined twice`);
  operations.set(name, run);
}
