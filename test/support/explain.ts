/** Shows the query plans of a store's statements: the indexes that SQLite uses, and whether it sorts. */
import type { Db } from '../../src/db/database.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { Tx } from '../../src/db/operation.ts';
import { openMemoryDatabase } from './memory-database.ts';

/** The database of all calls, because hundreds of them would each read its schema again. */
let explained: ReturnType<typeof openExplained> | undefined;

/**
 * Returns the lines of `EXPLAIN QUERY PLAN` for every statement that `run` prepares. The database is empty, with the
 * real schema and without foreign keys; `run` inserts the rows that it needs, which are rolled back. Parameters are planned
 * as parameters, so SQLite uses a partial index only when its condition is part of the SQL.
 */
export async function explain(run: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  explained ??= openExplained();
  const { database, prepare, seen } = explained;
  seen.clear();
  database.exec('BEGIN');
  try {
    await run(kyselyOn(database));
    return [...seen].flatMap((sql) => {
      const parameters = [...sql].filter((character) => character === '?').map(() => null);
      const steps = prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(parameters);
      return steps.map(({ detail }) => detail);
    });
  } finally {
    database.exec('ROLLBACK');
  }
}

/** Opens a database that notes the SQL of each statement in `seen`, except those that `prepare` prepares. */
function openExplained() {
  const { database } = openMemoryDatabase();
  database.pragma('foreign_keys = OFF');
  const seen = new Set<string>();
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    seen.add(sql);
    return prepare(sql);
  }) as typeof database.prepare;
  return { database, prepare, seen };
}

/** Runs long reads on this thread, so that `explain` sees their statements. */
export function inThisThread(tx: Tx): Pick<Db, 'query'> {
  return { query: (read, input) => read.run(tx, input) };
}
