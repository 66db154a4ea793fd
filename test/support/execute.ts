/** Runs SQL on the database of a test application beside its own connections, for rows of which a test needs many. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { TestApp } from './test-app.ts';

export function execute({ dataDir }: Pick<TestApp, 'dataDir'>, sql: string): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
