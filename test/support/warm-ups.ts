/** Sets what a source in warm-up has sent on a day, which the writes of claims count otherwise. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { FirstAttempts } from '../../src/queue/sources/warm-up/store.ts';
import type { TestApp } from './test-app.ts';

export function setFirstAttempts({ dataDir }: Pick<TestApp, 'dataDir'>, count: FirstAttempts): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  try {
    database
      .prepare('INSERT OR REPLACE INTO sourceWarmUpCounts VALUES (@source, @provider, @day, @firstAttempts)')
      .run(count);
  } finally {
    database.close();
  }
}
