/**
 * Named operations. A write or a long read is defined once, beside the table it belongs to, and run in another thread
 * by its name, so that what crosses between threads is data and never code.
 */
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** The connection inside a transaction, or a reading one. */
export type Tx = Kysely<Tables>;

export type Operation<Input, Result> = {
  readonly name: string;
  run(tx: Tx, input: Input): Promise<Result>;
};

/**
 * Runs in the writer thread, inside the transaction of its group: whole or, when it throws, not at all. It may read and
 * decide on consistent data; it waits for nothing but `tx`. Ids, times and random values come with its input. It may be
 * run twice (db/write-group.ts), the first time without trace, so it changes nothing but `tx`: no variable of its
 * module, and not its input.
 */
export type Write<Input, Result> = Operation<Input, Result> & { readonly kind: 'write' };

/** Runs in a reader thread. */
export type Read<Input, Result> = Operation<Input, Result> & { readonly kind: 'read' };

type Run = (tx: Tx, input: never) => Promise<unknown>;

const operations = new Map<string, Run>();

export function defineWrite<Input, Result>(
  name: string,
  run: (tx: Tx, input: Input) => Promise<Result>,
): Write<Input, Result> {
  register(name, run);
  return { kind: 'write', name, run };
}

export function defineRead<Input, Result>(
  name: string,
  run: (tx: Tx, input: Input) => Promise<Result>,
): Read<Input, Result> {
  register(name, run);
  return { kind: 'read', name, run };
}

/** @throws Error when no module of src/operations.ts defines it */
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
