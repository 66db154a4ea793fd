/** How SQLite goes about the statements of a store: by which index, and whether it sorts. */
import Sqlite from 'better-sqlite3';
import type { Db } from '../../src/db/database.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Tx } from '../../src/db/operation.ts';

/**
 * The lines of `EXPLAIN QUERY PLAN` of everything `run` runs, on a database of its own with the real schema, without
 * rows and without foreign keys. Rows that `run` needs to come to its statement it adds itself: they have no plan.
 * Parameters are planned as parameters, so that a partial index counts only where its condition stands in the SQL.
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

/** What a reader thread would read, read here: so that `explain` sees it. */
export function inThisThread(tx: Tx): Pick<Db, 'query'> {
  return { query: (read, input) => read.run(tx, input) };
}
