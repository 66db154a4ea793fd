/** The database of a daemon, which is read beside it or after it. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

export function openDatabase(dataDir: string): Sqlite.Database & Disposable {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  return Object.assign(database, { [Symbol.dispose]: () => void database.close() });
}
