/** Opens the main database, `postrider.db`, under the lock of its data directory and in threads of its own. */
import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDirectories } from '../system/make-directories.ts';
import type { System } from '../system/system.ts';
import type { Wakeups } from '../system/wakeups.ts';
import type { Synchronous } from './connection.ts';
import { type Db, openDatabase } from './database.ts';
import { finishReplacement } from './installation/replace.ts';
import { reportInstallation } from './installation/report.ts';
import { lockDirectory } from './lock.ts';
import { MAIN_SCHEMA } from './main-schema.ts';
import { TableChanges } from './table-changes.ts';
import type { Tables } from './tables.ts';
import { startDatabaseThreads } from './threads.ts';

export type MainDatabaseOptions = {
  /** Data directory. It is created with mode 0700 when it does not exist. */
  directory: string;
  operationsModule: URL;
  synchronous: Synchronous;
  readers: number;
  crashAt: string | undefined;
  /** Creates a database in a data directory that is in use and has none. Without it such a start is refused. */
  newDatabase?: boolean;
  /** Called for each write of any thread that is refused because the disk is full. */
  onDiskFull?: () => void;
  /** Called for each wake-up that a write has asked for (db/commit-wakeups.ts). */
  onWakeup?: Wakeups['notify'];
};

/**
 * Opens the database of a data directory, creates it when it is new, and migrates it.
 * @throws LockedError, DataDirectoryError, SchemaVersionError
 */
export async function openMainDatabase(
  system: Pick<System, 'clock' | 'log'>,
  options: MainDatabaseOptions,
): Promise<Db> {
  const directory = resolve(options.directory);
  makeDirectories(directory);
  // An existing directory gets this mode too: mail and keys are readable only by the user that the daemon runs as.
  chmodSync(directory, 0o700);
  const lock = lockDirectory(directory);
  try {
    finishReplacement(directory);
    return await openLocked(system, { ...options, directory, release: lock.release });
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openLocked(
  system: Pick<System, 'clock' | 'log'>,
  options: MainDatabaseOptions & { release: () => void },
): Promise<Db> {
  const { operationsModule, readers, crashAt } = options;
  const threads = await startDatabaseThreads(system.clock, {
    operationsModule: operationsModule.href,
    readers,
    crashAt,
  });
  const changes = new TableChanges();
  try {
    const { database, installation } = await openDatabase<Tables>(system, threads, {
      file: join(options.directory, 'postrider.db'),
      synchronous: options.synchronous,
      schema: MAIN_SCHEMA,
      installation: { newDatabase: options.newDatabase ?? false },
      changes: changes.memory,
      onDiskFull: options.onDiskFull,
      onWakeup: options.onWakeup,
    });
    if (!installation) throw new Error('the main database was opened without its installation');
    reportInstallation(system.log, installation);
    const closeDatabase = database.close;
    return Object.assign(database, {
      installation,
      changes,
      async close() {
        await closeDatabase();
        await threads.close();
        options.release();
      },
    });
  } catch (error) {
    await threads.close();
    throw error;
  }
}
