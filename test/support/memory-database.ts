/** The real schema in memory: for what a store's functions do inside one transaction, without threads and disk. */
import Sqlite, { type Database } from 'better-sqlite3';
import { kyselyOn } from '../../src/db/dialect.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Tx } from '../../src/db/operation.ts';

export type MemoryDatabase = { database: Database; tx: Tx; close(): void };

export function openMemoryDatabase(): MemoryDatabase {
  const database = new Sqlite(':memory:');
  database.pragma('foreign_keys = ON');
  migrate(database, 0);
  return { database, tx: kyselyOn(database), close: () => void database.close() };
}
