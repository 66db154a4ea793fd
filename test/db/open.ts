/** A database in a temporary directory, with the operations of the tests beside it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Db } from '../../src/db/database.ts';
import { type MainDatabaseOptions, openMainDatabase } from '../../src/db/main-database.ts';
import type { Clock } from '../../src/system/clock.ts';
import type { Log } from '../../src/system/log.ts';
import { createLog } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';

/** A test, or whoever else closes what it opened. */
type Context = { after(run: () => Promise<void>): void };

const directories: string[] = [];
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A directory without a database. It lives as long as this process. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postrider-db-'));
  directories.push(directory);
  return directory;
}

/** Opens a database, by default a new one. It is closed when the test ends, unless the test did. */
export async function openTestDatabase(
  context: Context,
  options: Partial<MainDatabaseOptions> & { log?: Log; clock?: Clock } = {},
): Promise<Db> {
  const { log = createLog('silent'), clock = createFakeClock(Date.UTC(2030, 0, 1)), ...rest } = options;
  const directory = rest.directory ?? newDataDirectory();
  const db = await openMainDatabase(
    { clock, log },
    {
      directory,
      operationsModule: new URL('./operations.ts', import.meta.url),
      synchronous: 'FULL',
      readers: 1,
      crashAt: undefined,
      ...rest,
    },
  );
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= db.close());
  context.after(close);
  return {
    ...db,
    get pendingWrites() {
      return db.pendingWrites;
    },
    get pendingBytes() {
      return db.pendingBytes;
    },
    get lagMs() {
      return db.lagMs;
    },
    get writerSilentMs() {
      return db.writerSilentMs;
    },
    get readerSilentMs() {
      return db.readerSilentMs;
    },
    close,
  };
}
