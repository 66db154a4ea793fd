/** Shows the query plans of a store's statements: the indexes that SQLite uses, and whether it sorts. */
import Sqlite from 'better-sqlite3';
import type { Db } from '../../src/db/database.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Tx } from '../../src/db/operation.ts';

/**
 * Returns the lines of `EXPLAIN QUERY PLAN` for every statement that `run` prepares. The database is new and empty,
 * with the real schema and without foreign keys; `run` inserts the rows that it needs. Parameters are planned as
 * parameters, so SQLite uses a partial index only when its condition is part of the SQL.
 */
export async function explain(run: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const database = new Sqlite(':memory:');
  migrate(database, 0);
  database.pragma('foreign_keys = OFF');
  const seen = new Set<string>();
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    seen.add(sql);
    return prepare(sql);
  }) as typeof database.prepare;
  await run(kyselyOn(database));
  const plan = [...seen].flatMap((sql) => {
    const parameters = [...sql].filter((character) => character === '?').map(() => null);
    return prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(parameters);
  });
  database.close();
  return plan.map(({ detail }) => detail);
}

/** Runs long reads on this thread, so that `explain` sees their statements. */
export function inThisThread(tx: Tx): Pick<Db, 'query'> {
  return { query: (read, input) => read.run(tx, input) };
}
