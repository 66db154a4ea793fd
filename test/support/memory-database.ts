/**
 * Opens a database in memory with the real schema, for tests of the functions of a store. It uses neither threads nor
 * the disk.
 */
import Sqlite, { type Database } from 'better-sqlite3';
import { kyselyOn } from '../../src/db/dialect.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Tx } from '../../src/db/operation.ts';

export type MemoryDatabase = { database: Database; tx: Tx; close(): void };

/** Opens an empty database. The caller closes it. */
export function openMemoryDatabase(): MemoryDatabase {
  const database = new Sqlite(':memory:');
  database.pragma('foreign_keys = ON');
  migrate(database, 0);
  return { database, tx: kyselyOn(database), close: () => void database.close() };
}
