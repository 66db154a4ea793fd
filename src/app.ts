/**
 * The value that all features receive: the system, the database and the other stores. Opening it locks the data
 * directory.
 */
import { randomUUID } from 'node:crypto';
import { type Blobs, openBlobs } from './blobs/blobs.ts';
import { mainOwner } from './blobs/owner.ts';
import type { Config } from './config/config.ts';
import type { Db } from './db/database.ts';
import { type MainDatabaseOptions, openMainDatabase } from './db/main-database.ts';
import { openSealer } from './db/master-key.ts';
import { READER_THREADS } from './db/reader-pool.ts';
import { MAX_PENDING, MAX_PENDING_BYTES } from './db/thread-database.ts';
import { createLinkFinder, type LinkFinder } from './mail/links/find-links.ts';
import { createHtmlText, type HtmlText } from './mail/message/html-text.ts';
import { ClockWatch } from './system/clock-watch.ts';
import { DiskSpace } from './system/disk-space.ts';
import { createGuards, type Guards } from './system/guards/guards.ts';
import type { Sealer } from './system/seal.ts';
import { createSystem, type System, type SystemOptions } from './system/system.ts';

export type App = System & {
  config: Config;
  db: Db;
  blobs: Blobs;
  sealer: Sealer;
  htmlText: HtmlText;
  linkFinder: LinkFinder;
  /** Random id of this run of the daemon. Whatever an earlier run left leased is recovered. */
  runId: string;
  /** Reports how far the wall clock is behind the latest time the daemon has seen. */
  clockWatch: Pick<ClockWatch, 'behindMs' | 'check'>;
  /** Reports the free space on the disk of the data directory. */
  disk: DiskSpace;
  /** Limits that all protocols share. */
  guards: Guards;
};

export type OpenOptions = Partial<Pick<MainDatabaseOptions, 'newDatabase' | 'readers'>>;

const BYTES_PER_MEGABYTE = 1024 * 1024;

/**
 * Opens the app of a data directory. Each value in `overrides` replaces a part of the system.
 * @throws LockedError, DataDirectoryError, SchemaVersionError, MissingKeyError, WrongKeyError
 */
export async function openApp(
  config: Config,
  overrides: Partial<System> = {},
  options: OpenOptions = {},
): Promise<App & AsyncDisposable> {
  const system = createSystem(systemOptions(config), overrides);
  const disk = new DiskSpace(system, config.dataDir, config.storage.reserveMegabytes * BYTES_PER_MEGABYTE);
  const db = await openMainDatabase(system, {
    directory: config.dataDir,
    operationsModule: operationsModule(),
    synchronous: config.faults.synchronous,
    readers: READER_THREADS,
    crashAt: config.faults.crashAt,
    ...options,
    onDiskFull: disk.reportFull,
    onWakeup: system.wakeups.notify,
  });
  if (db.installation.restoredAt !== null) system.egress.hold();
  if (config.faults.synchronous !== 'FULL')
    system.log.warn({}, 'commits are not flushed: acknowledged mail can be lost');
  try {
    const sealer = await openSealer(db, config.dataDir);
    const htmlText = createHtmlText(system);
    const linkFinder = createLinkFinder(system);
    await disk.check();
    return {
      ...system,
      config,
      db,
      disk,
      guards: createGuards(system.clock, {
        writerLagMs: () => db.lagMs,
        pendingWrites: () => db.pendingWrites,
        pendingBytes: () => db.pendingBytes,
        maxPendingWrites: MAX_PENDING,
        maxPendingBytes: MAX_PENDING_BYTES,
        loopDelayMs: () => system.metrics.loopDelay.meanMs,
        isDiskLow: () => disk.isBelowReserve,
      }),
      blobs: openBlobs({ ...system, disk }, mainOwner(db, config.dataDir)),
      sealer,
      htmlText,
      linkFinder,
      runId: randomUUID(),
      clockWatch: new ClockWatch(system.clock, db.installation.wallAt),
      [Symbol.asyncDispose]: async () => {
        await htmlText.close();
        await linkFinder.close();
        await db.close();
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Returns the options of the system that this configuration names. */
export function systemOptions(config: Config): SystemOptions {
  return {
    dnsServers: config.dns.servers,
    trustedResolvers: config.dns.trusted,
    allowTargets: config.outbound.allowTargets,
    logLevel: config.log.level,
    logFormat: config.log.format,
    crashAt: config.faults.crashAt,
  };
}

/**
 * Returns the URL of operations.ts, compiled or not like this module. The database threads import it; this module
 * must not.
 */
function operationsModule(): URL {
  return new URL(`./operations${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
