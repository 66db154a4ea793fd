/** Opens the database of a data directory beside the daemon. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

/** Calls `use` with the database. The daemon may run when the database is only read. */
export function withDatabase<Result>(
  dataDir: string,
  { readonly }: { readonly: boolean },
  use: (database: Sqlite.Database) => Result,
): Result {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly });
  try {
    return use(database);
  } finally {
    database.close();
  }
}
