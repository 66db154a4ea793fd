/**
 * Watches the free space on the disk of the data directory. Below a reserve the daemon accepts nothing that adds bulk,
 * so that the mail it has already accepted can still be delivered and its outcome stored.
 */
import { statfs } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { AppError, errorMessage } from './errors.ts';
import type { Log } from './log.ts';

export type DiskUsage = { freeBytes: number; totalBytes: number };

/** Returns the space that a user without privileges can still use on the file system of `path`. */
export type StatDisk = (path: string) => Promise<DiskUsage>;

/** Reads the space from the operating system. */
export const statDisk: StatDisk = async (path) => {
  const { bsize, bavail, blocks } = await statfs(path);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
};

type World = { clock: Clock; log: Log; statDisk: StatDisk };

/**
 * Period of the checks, in milliseconds. It is short enough to notice a disk that fills at 50 MB/s well before a
 * reserve of 512 MB is used up.
 */
const CHECK_PERIOD_MS = 5_000;
/** Maximum reserve as a share of the disk: a small disk would otherwise accept nothing at all. */
const MAX_RESERVE_SHARE = 0.1;
/** Minimum free space with which a transaction still fits. */
const MIN_USABLE_BYTES = 1024 * 1024;
/**
 * Time for which a write that failed for lack of space counts, in milliseconds. It covers a used-up quota, which does
 * not show in the free space.
 */
const FAILURE_COUNTS_MS = 30_000;

export class DiskSpace {
  readonly #system: World;
  readonly #directory: string;
  readonly #maxReserveBytes: number;
  #usage: DiskUsage | undefined;
  /** Time of the last failed write, on the monotonic clock. */
  #failedAt = Number.NEGATIVE_INFINITY;
  #isBelowReserve = false;

  /** `maxReserveBytes` is the reserve on a large disk; 0 keeps nothing free. */
  constructor(system: World, directory: string, maxReserveBytes: number) {
    this.#system = system;
    this.#directory = directory;
    this.#maxReserveBytes = maxReserveBytes;
  }

  /** Free space in bytes. Undefined before the first check, and when the file system does not report it. */
  get freeBytes(): number | undefined {
    return this.#usage?.freeBytes;
  }

  /** True when nothing that adds bulk should be accepted. Reading it costs nothing. */
  get isBelowReserve(): boolean {
    return this.#isBelowReserve;
  }

  /** True when hardly anything can be written. */
  get isFull(): boolean {
    if (this.#system.clock.elapsed() - this.#failedAt < FAILURE_COUNTS_MS) return true;
    return this.#usage !== undefined && this.#usage.freeBytes < MIN_USABLE_BYTES;
  }

  /**
   * Checks that background work may add bulk.
   * @throws AppError unavailable below the reserve
   */
  requireReserve(): void {
    if (!this.#isBelowReserve) return;
    throw new AppError('unavailable', 'Free disk space is below the reserve (storage.reserveMegabytes)');
  }

  /** Records that a write failed for lack of space. */
  readonly reportFull = (): void => {
    this.#failedAt = this.#system.clock.elapsed();
  };

  /** Reads the free space from the file system. After a failure the last known value stays. */
  async check(): Promise<void> {
    try {
      this.#usage = await this.#system.statDisk(this.#directory);
    } catch (error) {
      this.#system.log.warn({ reason: errorMessage(error) }, 'the free disk space could not be read');
      return;
    }
    const { freeBytes, totalBytes } = this.#usage;
    const reserveBytes = Math.min(this.#maxReserveBytes, totalBytes * MAX_RESERVE_SHARE);
    const isBelow = freeBytes < reserveBytes;
    if (isBelow === this.#isBelowReserve) return;
    this.#isBelowReserve = isBelow;
    const figures = { directory: this.#directory, freeBytes, reserveBytes: Math.round(reserveBytes) };
    if (isBelow) {
      this.#system.log.warn(figures, 'free disk space is below the reserve: nothing new is accepted');
    } else {
      this.#system.log.info(figures, 'free disk space is above the reserve again');
    }
  }

  /** Checks the free space periodically. The returned `stop` ends it. */
  watch(): { stop(): void } {
    const { clock } = this.#system;
    let isStopped = false;
    const checkAgain = () => {
      void this.check().then(() => {
        if (!isStopped) timer = clock.after(CHECK_PERIOD_MS, checkAgain);
      });
    };
    let timer = clock.after(CHECK_PERIOD_MS, checkAgain);
    return {
      stop() {
        isStopped = true;
        timer.cancel();
      },
    };
  }
}
