/** A writing connection of a test beside the app. Its changes of watched tables count, as those of the writer thread do. */
import type { Database } from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { kyselyOn } from '../../src/db/dialect.ts';
import { TableChanges } from '../../src/db/table-changes.ts';
import type { Tables } from '../../src/db/tables.ts';

/** Returns the connection for statements that each commit at once. */
export function countedSide(database: Database, changes: Pick<TableChanges, 'memory'>): Kysely<Tables> {
  const count = new TableChanges(changes.memory).watch(database);
  return kyselyOn(database, async (query) => {
    const result = query();
    count();
    return result;
  });
}
