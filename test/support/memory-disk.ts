/** Finds a folder in memory for the files of tests: the fault suite proves durability, and waiting for a disk costs time. */
import { accessSync, constants, statfsSync } from 'node:fs';

const MEMORY_DISK = '/dev/shm';
/** The suite needs about 1 GiB at a time. Containers often have 64 MiB. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/** Returns a writable folder in memory with enough free space; undefined when the machine has none. */
export function findMemoryDisk(): string | undefined {
  try {
    accessSync(MEMORY_DISK, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    return bavail * bsize >= MIN_FREE_BYTES ? MEMORY_DISK : undefined;
  } catch {
    return undefined;
  }
}
