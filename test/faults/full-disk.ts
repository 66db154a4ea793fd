/**
 * A full disk, again and again: something else fills it to the last byte under load. The daemon goes on answering, refuses
 * what it cannot store, and takes everything when there is room again.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../src/system/errors.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { runFaultCycles } from './fault-cycles.ts';
import type { Place, Result } from './part.ts';
import { seededRandom } from './seeded-random.ts';
import { insist, undoLater } from './undo.ts';
import { createWorld } from './world.ts';

const DISK_MEGABYTES = 64;
const LASTS_MS = 2_000;
/** Large pieces first, then what is left between them. */
const PIECES_BYTES = [1024 * 1024, 64 * 1024, 4096, 1];

export async function fillDisk({ directory, seed, cycles }: Place): Promise<Result> {
  using disk = mountMemory(join(directory, 'full-disk'), DISK_MEGABYTES);
  const { dataDir, filler } = disk;
  await using world = await createWorld({ random: seededRandom(seed), name: 'full', dataDir });
  return await runFaultCycles(world, {
    cycles,
    lastsMs: LASTS_MS,
    begin: async () => fill(filler),
    inspect: inspectHealth,
    end: async () => rmSync(filler),
    mayBreakConnections: false,
    mustRefuse: true,
  });
}

/** Mounts an empty disk of this size that lives in memory, for a data directory and a file that fills it. */
export function mountMemory(mountPoint: string, megabytes: number) {
  mkdirSync(mountPoint);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mountPoint]);
  const unmount = undoLater(`mount ${mountPoint}`, () => insist(() => execFileSync('umount', [mountPoint])));
  const [dataDir, filler] = [join(mountPoint, 'data'), join(mountPoint, 'filler')];
  return { dataDir, filler, [Symbol.dispose]: unmount };
}

/** Fills the disk to the last byte with one file. */
export function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const bytes of PIECES_BYTES) writeUntilFull(file, Buffer.alloc(bytes));
  } finally {
    closeSync(file);
  }
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error;
  }
}

/** What needs no room is answered as always. */
async function inspectHealth(daemon: DaemonProcess): Promise<string[]> {
  const { status } = await daemon.request('GET', '/healthz', undefined);
  return status === 200 || status === 503 ? [] : [`GET /healthz answers ${status} on a full disk`];
}
