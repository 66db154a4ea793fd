/**
 * A file system that the kernel makes read-only under the running daemon, as ext4 does when it finds an error in itself
 * (`errors=remount-ro`). An operator's `mount -o remount,ro` never does that: it answers EBUSY while the database is
 * open. What SQLite makes of it (SQLITE_IOERR_WRITE, also for EROFS) nothing tells from a disk that failed, so the daemon
 * ends; it does not start on a disk it cannot write to, and when that is mended it has all it had promised before.
 *
 * Of what it promised at that very moment the last may be missing: on Linux 6.18 an fdatasync(2) of a growing file that
 * runs while ext4 gives up its journal can answer 0 without effect (6 of 75 times in a program that does nothing else,
 * never where the file did not grow).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DaemonStartError } from '../support/daemon.ts';
import { dieAgainAndAgain } from './deaths.ts';
import { makeExt4, mountImage } from './disk/volatile-disk.ts';
import type { Place, Result } from './part.ts';
import { seededRandom } from './seeded-random.ts';
import { createWorld, type World } from './world.ts';

const DISK_BYTES = 512 * 1024 * 1024;
const OPTIONS = 'loop,errors=remount-ro';
/** e2fsck(8): 1 is "errors corrected". */
const MENDED = [0, 1];

export async function forbidWrites({ directory, seed, cycles }: Place): Promise<Result> {
  const image = join(directory, 'read-only.image');
  const mountPoint = join(directory, 'read-only');
  await makeExt4(image, DISK_BYTES);
  let unmount = await mountImage(image, mountPoint, OPTIONS);
  let device = deviceOf(mountPoint);
  using cleanUp = new DisposableStack();
  cleanUp.defer(() => unmount());
  await using world = await createWorld({
    random: seededRandom(seed),
    name: 'ro',
    dataDir: join(mountPoint, 'data'),
  });
  return await dieAgainAndAgain(world, {
    cycles,
    mayForgetLast: true,
    begin: async () => makeReadOnly(device, mountPoint),
    mend: async () => {
      const faults = await faultsOfStart(world);
      unmount();
      const { status, stdout } = spawnSync('e2fsck', ['-f', '-y', image], { encoding: 'utf8' });
      if (status === null || !MENDED.includes(status)) throw new Error(`e2fsck: ${status}\n${stdout}`);
      unmount = await mountImage(image, mountPoint, OPTIONS);
      device = deviceOf(mountPoint);
      return faults;
    },
  });
}

/** Such as `loop0`. */
function deviceOf(mountPoint: string): string {
  const args = ['--noheadings', '--output', 'SOURCE', mountPoint];
  return basename(execFileSync('findmnt', args, { encoding: 'utf8' }).trim());
}

/** Lets ext4 believe it has found an error in itself. */
function makeReadOnly(device: string, mountPoint: string): void {
  writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'fault test');
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts.find((line) => line.includes(` ${mountPoint} `)) ?? '';
  if (!/\b(emergency_ro|ro)\b/.test(options)) throw new Error(`still writable: ${options}`);
}

/** On a disk it cannot write to the daemon ends with a failure, rather than serve. */
async function faultsOfStart(world: World): Promise<string[]> {
  try {
    const daemon = await world.start();
    await daemon.kill('SIGKILL');
    return ['the daemon starts on a read-only disk'];
  } catch (error) {
    if (!(error instanceof DaemonStartError)) throw error;
    if (error.exit?.code === 1 && /read-?only|EROFS/i.test(error.message)) return [];
    return [`on a read-only disk the daemon ends with ${JSON.stringify(error.exit)}, without saying why`];
  }
}
