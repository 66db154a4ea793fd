/** Reads a whole database, so that a test can say that nothing was lost or changed. */
import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

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
