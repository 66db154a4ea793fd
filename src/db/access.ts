/** Reads and writes of a database, for any thread: writes go to the writer thread, short reads run where they are. */
import type { Kysely } from 'kysely';
import type { Log } from '../system/log.ts';
import type { Write } from './operation.ts';
import type { ThreadDatabase } from './thread-database.ts';

export type Access<Schema> = {
  /**
   * Runs the write in the writer thread; resolves with its result when it is durable, rejects with its refusal.
   *
   * @param given memory in `input` that moves to the writer thread instead of being copied: the caller cannot use it any more
   */
  commit<Input, Result>(
    write: Write<Input, Result, Schema>,
    input: Input,
    given?: readonly ArrayBuffer[],
  ): Promise<Result>;
  /** Runs a write whose loss is acceptable, such as last-used times and counters. A failure is logged. */
  commitInBackground<Input>(write: Write<Input, unknown, Schema>, input: Input): void;
  /** Short reads on the calling thread: a few rows by an index. */
  readonly read: Kysely<Schema>;
};

/** Returns the functions that write to a database of a writer thread. */
export function writesTo<Schema>(
  writer: Pick<ThreadDatabase, 'run'>,
  log: Pick<Log, 'warn'>,
): Omit<Access<Schema>, 'read'> {
  return {
    commit: <Input, Result>(
      write: Write<Input, Result, Schema>,
      input: Input,
      given?: readonly ArrayBuffer[],
    ) => writer.run(write.name, input, given) as Promise<Result>,
    commitInBackground: (write, input) => {
      writer
        .run(write.name, input)
        .catch((error) => log.warn({ err: error, write: write.name }, 'a background write was lost'));
    },
  };
}
