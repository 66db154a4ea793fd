/** Reads and writes the one row of `installation`, which ties a database to its data directory. */
import type { Database } from 'better-sqlite3';
import { defineWrite, type Tx } from '../operation.ts';
import type { InstallationRow } from '../own-tables.ts';

/** Returns true when the schema exists. A file that is empty, or that somebody emptied, has none. */
export function hasSchema(database: Database): boolean {
  return hasTable(database, 'migrations');
}

/** Returns undefined for a database that was made before there was an installation. */
export function findInstallation(database: Database): InstallationRow | undefined {
  if (!hasTable(database, 'installation')) return undefined;
  return database.prepare<[], InstallationRow>('SELECT * FROM installation').get();
}

/**
 * Returns the installation.
 * @throws Error when the database has none
 */
export function getInstallation(database: Database): InstallationRow {
  const row = findInstallation(database);
  if (!row) throw new Error('the database has no installation');
  return row;
}

/** Replaces the installation. */
export function putInstallation(database: Database, row: InstallationRow): void {
  const { id, generation, wallAt, canary, keepFilesUntil, restoredAt } = row;
  database.exec('DELETE FROM installation');
  database
    .prepare('INSERT INTO installation VALUES (?, ?, ?, ?, ?, ?)')
    .run(id, generation, wallAt, canary, keepFilesUntil, restoredAt);
}

/** Raises the generation at each start, so that a database file whose WAL is taken away counts as an older copy. */
export function raiseGeneration(database: Database): void {
  database.exec('UPDATE installation SET generation = generation + 1');
}

/**
 * Stores the generation in the header of the database file (session.ts). It is part of a transaction, and
 * reaches the file with the next checkpoint.
 */
export function stampHeader(database: Database, generation: number): void {
  database.pragma(`user_version = ${generation}`);
}

/** Stores the wall time. Right after its commit the writer thread writes `installation.json`. */
export const advanceInstallation = defineWrite(
  'installation.advance',
  async (tx, { now }: { now: number }): Promise<void> => {
    await tx
      .updateTable('installation')
      .set((set) => ({ generation: set('generation', '+', 1), wallAt: now }))
      .execute();
  },
);

/** Stores a text that was sealed with the master key; every later start recognises a wrong key by it. */
export const storeCanary = defineWrite(
  'installation.storeCanary',
  async (tx, { canary }: { canary: string }): Promise<void> => {
    await tx.updateTable('installation').set({ canary }).execute();
  },
);

/** Records that the data directory was restored from a backup: nothing leaves it until it is released. */
export const recordRestored = defineWrite(
  'installation.recordRestored',
  async (tx, { now }: { now: number }): Promise<void> => {
    await tx.updateTable('installation').set({ restoredAt: now }).execute();
  },
);

/** Records that the operator has released a restored installation. */
export const recordReleased = defineWrite(
  'installation.recordReleased',
  async (tx, _input: null): Promise<void> => {
    await tx.updateTable('installation').set({ restoredAt: null }).execute();
  },
);

/** Returns when the data directory was restored; null when nothing is held back. */
export async function findRestoredAt(tx: Tx): Promise<number | null> {
  const row = await tx.selectFrom('installation').select('restoredAt').executeTakeFirst();
  return row?.restoredAt ?? null;
}

function hasTable(database: Database, name: string): boolean {
  const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name);
  return found !== undefined;
}
