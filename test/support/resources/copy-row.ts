/** Copies rows behind the back of the application: a request for each of thousands would take minutes. */
import type { Database } from 'better-sqlite3';

type Copied = {
  table: string;
  id: string;
  /** Number of copies. */
  count: number;
  /** Columns in which rows must differ. */
  unique?: ((number: number) => Record<string, string | number>) | undefined;
};

/** Copies the row with this id. */
export function copyRow(database: Database, { table, id, count, unique }: Copied): void {
  const row = database.prepare(`SELECT * FROM ${table} WHERE id = ?`).get(id) as Record<string, unknown>;
  const columns = Object.keys(row);
  const values = columns.map((name) => `@${name}`);
  const insert = database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${values})`);
  database.transaction(() => {
    for (let number = 1; number <= count; number++)
      insert.run({ ...row, id: copiedId(id, number), ...unique?.(number) });
  })();
}

/** Returns the id of a copy. */
export function copiedId(id: string, number: number): string {
  return `${id.slice(0, -5)}${`${number}`.padStart(5, '0')}`;
}
