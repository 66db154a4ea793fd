/**
 * Creates the tables of a new database, and applies forward-only migrations in order to one that an earlier program wrote. All of
 * it is one transaction: when a statement fails, or the process ends, the database stays as it was. A database of a newer program,
 * or of one that is too old, is refused and not changed.
 */
import type { Database } from 'better-sqlite3';
import { VERSION } from '../version.ts';

/** One step of the schema's history. Its id names it and defines the order. It runs once, in a transaction. */
export type Migration = { readonly id: string; readonly sql: string };

export type Schema = {
  /** SQL that creates the tables of a new database as they are after all migrations. */
  readonly creation: string;
  /** Id of the last migration of the oldest version whose databases can be opened. */
  readonly oldest: string;
  /** The migrations of later versions, in order. */
  readonly migrations: readonly Migration[];
};

/** Returns the schema of a database whose tables migrations create, in a new database as in an old one. */
export function migratedSchema([first, ...migrations]: readonly [Migration, ...Migration[]]): Schema {
  const creation = [first, ...migrations].map(({ sql }) => sql).join(';\n');
  return { creation, oldest: first.id, migrations };
}

/** Reports a database that this version cannot open: a newer one wrote it, or one that is too old. */
export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError';
}

/** A schema with a function that applies each migration, and may measure it. */
type ObservedSchema = Schema & { readonly observe?: (id: string, apply: () => void) => void };

/**
 * Creates the tables, or applies the migrations that the database does not have yet. Each is recorded with the version of the program
 * that applied it, so that an older program can say which one a database needs.
 * @throws SchemaVersionError
 */
export function migrate(database: Database, nowMs: number, schema: ObservedSchema): void {
  const { observe = (_id, apply) => apply() } = schema;
  database.transaction(() => {
    database.exec(
      'CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY, appliedAt INTEGER NOT NULL, version TEXT) STRICT',
    );
    addVersion(database);
    const applied = database.prepare<[], string>('SELECT id FROM migrations').pluck().all();
    const insert = database.prepare('INSERT INTO migrations (id, appliedAt, version) VALUES (?, ?, ?)');
    const isNew = applied.length === 0;
    if (isNew) {
      database.exec(schema.creation);
      insert.run(schema.oldest, nowMs, VERSION);
    } else requireKnown(database, applied, schema);
    for (const { id, sql } of schema.migrations) {
      if (applied.includes(id)) continue;
      if (!isNew) observe(id, () => database.exec(sql));
      insert.run(id, nowMs, VERSION);
    }
  })();
}

/** Adds the column for versions to a table that an earlier program made. */
function addVersion(database: Database): void {
  const columns = database
    .prepare<[], string>("SELECT name FROM pragma_table_info('migrations')")
    .pluck()
    .all();
  if (!columns.includes('version')) database.exec('ALTER TABLE migrations ADD COLUMN version TEXT');
}

function requireKnown(database: Database, applied: readonly string[], { oldest, migrations }: Schema): void {
  const unknown = applied
    .filter((id) => id > oldest && !migrations.some((migration) => migration.id === id))
    .sort()
    .at(-1);
  if (unknown !== undefined) {
    const select = database.prepare<[string], string | null>('SELECT version FROM migrations WHERE id = ?');
    const version = select.pluck().get(unknown);
    throw new SchemaVersionError(
      `the database has migration "${unknown}", which this version of Postrider does not know: ${version ? `version ${version} wrote it. Take that version or a later one` : 'it was written by a newer version'}`,
    );
  }
  if (!applied.includes(oldest))
    throw new SchemaVersionError(
      `the database does not have migration "${oldest}": a development version wrote it that is too old to be migrated. Start version e1b0e1d0 once with this data directory, stop it, and start this version again, or begin with an empty data directory`,
    );
}
