/**
 * The value that all features receive: the system, the database and the other stores. Opening it locks the data
 * directory.
 */
import { randomUUID } from 'node:crypto';
import { type Blobs, openBlobs } from './blobs/blobs.ts';
import type { Config } from './config.ts';
import { type DatabaseOptions, type Db, openDatabase } from './db/database.ts';
import { openSealer } from './db/installation/master-key.ts';
import { READER_THREADS } from './db/reader-pool.ts';
import { createHtmlText, type HtmlText } from './mail/message/html-text.ts';
import { ClockWatch } from './system/clock-watch.ts';
import { DiskSpace } from './system/disk-space.ts';
import type { Sealer } from './system/seal.ts';
import { createSystem, type System } from './system/system.ts';

export type App = System & {
  config: Config;
  db: Db;
  blobs: Blobs;
  sealer: Sealer;
  htmlText: HtmlText;
  /** Random id of this run of the daemon. Whatever an earlier run left leased is recovered. */
  runId: string;
  /** Reports how far the wall clock is behind the latest time the daemon has seen. */
  clockWatch: Pick<ClockWatch, 'behindMs' | 'check'>;
  /** Reports the free space on the disk of the data directory. */
  disk: DiskSpace;
};

export type OpenOptions = Partial<Pick<DatabaseOptions, 'newDatabase' | 'readers'>>;

const BYTES_PER_MEGABYTE = 1024 * 1024;

/**
 * Opens the app of a data directory. Each value in `overrides` replaces a part of the system.
 * @throws LockedError, DataDirectoryError, NewerSchemaError, MissingKeyError, WrongKeyError
 */
export async function openApp(
  config: Config,
  overrides: Partial<System> = {},
  options: OpenOptions = {},
): Promise<App & AsyncDisposable> {
  const system = createSystem(
    {
      dnsServers: config.dns.servers,
      allowTargets: config.outbound.allowTargets,
      logLevel: config.log.level,
      crashAt: config.faults.crashAt,
    },
    overrides,
  );
  const disk = new DiskSpace(system, config.dataDir, config.storage.reserveMegabytes * BYTES_PER_MEGABYTE);
  const db = await openDatabase(system, {
    directory: config.dataDir,
    operationsModule: operationsModule(),
    synchronous: config.faults.synchronous,
    readers: READER_THREADS,
    crashAt: config.faults.crashAt,
    ...options,
    onDiskFull: disk.reportFull,
  });
  if (config.faults.synchronous !== 'FULL')
    system.log.warn({}, 'commits are not flushed: acknowledged mail can be lost');
  try {
    const sealer = await openSealer(db, config.dataDir);
    const htmlText = createHtmlText(system);
    await disk.check();
    return {
      ...system,
      config,
      db,
      disk,
      blobs: openBlobs({ ...system, disk }, db, config.dataDir),
      sealer,
      htmlText,
      runId: randomUUID(),
      clockWatch: new ClockWatch(system.clock, db.installation.wallAt),
      [Symbol.asyncDispose]: async () => {
        await htmlText.close();
        await db.close();
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Returns the URL of operations.ts, compiled or not like this module. The database threads import it; this module
 * must not.
 */
function operationsModule(): URL {
  return new URL(`./operations${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
