/** Applies forward-only migrations in order at start. A database of a newer program is refused and not changed. */
import type { Database } from 'better-sqlite3';
import type { Migration } from './migration.ts';
import { initial } from './migrations/0001-initial.ts';
import { marketing } from './migrations/0002-marketing.ts';
import { webhookReplays } from './migrations/0003-webhook-replays.ts';
import { importStatus } from './migrations/0004-import-status.ts';
import { held } from './migrations/0005-held.ts';
import { installation } from './migrations/0006-installation.ts';
import { returnPath } from './migrations/0008-return-path.ts';
import { webhookSuspension } from './migrations/0009-webhook-suspension.ts';
import { names } from './migrations/0010-names.ts';
import { retention } from './migrations/0011-retention.ts';

const MIGRATIONS: readonly Migration[] = [
  initial,
  marketing,
  webhookReplays,
  importStatus,
  held,
  installation,
  returnPath,
  webhookSuspension,
  names,
  retention,
];

export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
}

/**
 * Applies the migrations that the database does not have yet, each in a transaction.
 * @throws NewerSchemaError when the database has a migration that this program does not know
 */
export function migrate(database: Database, nowMs: number, migrations = MIGRATIONS): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY, appliedAt INTEGER NOT NULL) STRICT',
  );
  const applied = database.prepare<[], { id: string }>('SELECT id FROM migrations').all();
  const known = new Set(migrations.map((migration) => migration.id));
  const unknown = applied.find((row) => !known.has(row.id));
  if (unknown) {
    throw new NewerSchemaError(
      `the database has migration "${unknown.id}", which this version of Postrider does not know: it was written by a newer version`,
    );
  }
  const done = new Set(applied.map((row) => row.id));
  for (const migration of migrations) {
    if (done.has(migration.id)) continue;
    database.transaction(() => {
      database.exec(migration.sql);
      database.prepare('INSERT INTO migrations (id, appliedAt) VALUES (?, ?)').run(migration.id, nowMs);
    })();
  }
}
