/** Stored mail as a number alone, without the mail. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { TestApp } from '../../support/test-app.ts';

/** Returns the function that sets how much a tenant stores. It writes as another process would. */
export function storeBytesOf({
  dataDir,
}: Pick<TestApp, 'dataDir'>): (tenantId: string, bytes: number) => void {
  return (tenantId, bytes) => {
    const database = new Sqlite(join(dataDir, 'postrider.db'));
    database.prepare('INSERT OR REPLACE INTO storedMail VALUES (?, ?)').run(tenantId, bytes);
    database.close();
  };
}
