/**
 * Applies forward-only migrations in order when a database is opened. All of them run in one transaction: when one
 * fails, or the process ends, the database stays as the earlier program left it. A database of a newer program is
 * refused and not changed.
 */
import type { Database } from 'better-sqlite3';
import { MAIN_MIGRATIONS } from './main-migrations.ts';
import type { ColumnChange, Migration, MigrationNotice } from './migration.ts';

export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
}

/**
 * Applies the migrations that the database does not have yet; those of the main database unless others are given. Returns what they tell
 * the operator.
 * @throws NewerSchemaError when the database has a migration that this program does not know
 */
export function migrate(
  database: Database,
  nowMs: number,
  migrations: readonly Migration[] = MAIN_MIGRATIONS,
): MigrationNotice[] {
  return database.transaction(() => {
    const notices: MigrationNotice[] = [];
    database.exec(
      'CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY, appliedAt INTEGER NOT NULL) STRICT',
    );
    const applied = database.prepare<[], string>('SELECT id FROM migrations').pluck().all();
    requireKnown(applied, migrations);
    const insert = database.prepare('INSERT INTO migrations (id, appliedAt) VALUES (?, ?)');
    for (const { id, sql, columnChange, notice } of migrations) {
      if (applied.includes(id)) continue;
      if (columnChange) changeColumn(database, columnChange);
      database.exec(sql);
      insert.run(id, nowMs);
      if (notice) notices.push(...noticesOf(database, notice));
    }
    return notices;
  })();
}

function noticesOf(database: Database, { message, sql }: Required<Migration>['notice']): MigrationNotice[] {
  const rows = database.prepare<[], MigrationNotice['fields']>(sql).all();
  return rows.map((fields) => ({ message, fields }));
}

function requireKnown(applied: readonly string[], migrations: readonly Migration[]): void {
  const unknown = applied.find((id) => !migrations.some((migration) => migration.id === id));
  if (unknown === undefined) return;
  throw new NewerSchemaError(
    `the database has migration "${unknown}", which this version of Postrider does not know: it was written by a newer version`,
  );
}

/**
 * Changes the definition of a column in the schema itself, as the documentation of SQLite describes it for changes that
 * do not affect the content on disk (lang_altertable.html, section 8).
 * @throws Error when the table does not have this definition
 */
function changeColumn(database: Database, { table, from, to }: ColumnChange): void {
  database.unsafeMode(true);
  try {
    database.pragma('writable_schema = ON');
    const { changes } = database
      .prepare(
        `UPDATE sqlite_schema SET sql = replace(sql, $from, $to)
          WHERE type = 'table' AND name = $table AND instr(sql, $from) > 0`,
      )
      .run({ table, from, to });
    if (changes !== 1) throw new Error(`the table ${table} has no column defined as "${from}"`);
  } finally {
    database.pragma('writable_schema = RESET');
    database.unsafeMode(false);
  }
}
