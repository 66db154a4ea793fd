/** Checks that the disk of the data directory has room. */
import { type Check, type CheckContext, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('disk');

const BYTES_PER_MEGABYTE = 1024 * 1024;
/** Minimum free space, as a multiple of the reserve below which nothing new is accepted. */
const MIN_RESERVES = 4;
/** Minimum free space as a share of the disk. */
const MIN_SHARE = 0.1;

export const disk = {
  name: 'disk',
  async run({ statDisk, config }: Pick<CheckContext, 'statDisk' | 'config'>) {
    const { dataDir, storage } = config;
    const { freeBytes, totalBytes } = await statDisk(dataDir);
    const free = `${Math.floor(freeBytes / BYTES_PER_MEGABYTE)} MB of ${Math.floor(totalBytes / BYTES_PER_MEGABYTE)} MB are free`;
    const reserveBytes = storage.reserveMegabytes * BYTES_PER_MEGABYTE;
    const advice = 'free space or enlarge the disk; retention decides how long mail is kept';
    if (freeBytes < Math.min(reserveBytes, totalBytes * MIN_SHARE)) return [fail(dataDir, free, advice)];
    if (freeBytes < Math.min(reserveBytes * MIN_RESERVES, totalBytes * MIN_SHARE))
      return [warn(dataDir, free, advice)];
    return [ok(dataDir, free)];
  },
} satisfies Check;
