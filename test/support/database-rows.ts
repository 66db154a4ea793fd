/** Reads a whole database, so that a test can say that nothing was lost or changed. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import type { TestApp } from './test-app.ts';

/**
 * Returns the ids of the migrations, and for each table a hash of its definition and all its rows. The tables that each
 * start changes are left out, and so are the times of the migrations.
 */
export function readRows(database: Database): { migrations: string[]; tables: Record<string, string> } {
  const tables = database
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, (SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema s
         WHERE s.tbl_name = t.name AND sql IS NOT NULL ORDER BY name)) AS sql
       FROM sqlite_schema t WHERE type = 'table' AND name NOT IN ('migrations', 'starts', 'installation')`,
    )
    .all();
  return {
    migrations: database.prepare<[], string>('SELECT id FROM migrations ORDER BY id').pluck().all(),
    tables: Object.fromEntries(
      tables.map(({ name, sql }) => {
        const hash = createHash('sha256').update(sql);
        for (const row of database.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).raw().iterate())
          hash.update(JSON.stringify(row));
        return [name, hash.digest('hex')];
      }),
    ),
  };
}

/** Tables that change because somebody asks: when a session was last used, and the log of requests. */
export const OF_ASKING = ['dashboardSessions', 'requestLog'];

/** Returns the tables of a test application as `readRows` does, without those that every request changes. */
export function rowsBesideRequests({ dataDir }: Pick<TestApp, 'dataDir'>): Record<string, string> {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    const { tables } = readRows(database);
    return Object.fromEntries(Object.entries(tables).filter(([name]) => !OF_ASKING.includes(name)));
  } finally {
    database.close();
  }
}
