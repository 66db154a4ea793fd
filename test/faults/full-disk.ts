/**
 * A full disk, again and again: something else fills it to the last byte under load. The daemon goes on answering, refuses
 * what it cannot store, and takes everything when there is room again.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../src/system/errors.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { type FaultCyclesVerdict, runFaultCycles } from './fault-cycles.ts';
import type { SeededRandom } from './seeded-random.ts';
import { insist, undoLater } from './undo.ts';
import { createWorld } from './world.ts';

export type FullDiskOptions = { directory: string; random: SeededRandom; cycles: number };

const DISK_MEGABYTES = 64;
const LASTS_MS = 2_000;
/** Large pieces first, then what is left between them. */
const PIECES_BYTES = [1024 * 1024, 64 * 1024, 4096, 1];

export async function runFullDisk({
  directory,
  random,
  cycles,
}: FullDiskOptions): Promise<FaultCyclesVerdict> {
  const disk = join(directory, 'full-disk');
  const unmount = mountMemory(disk, DISK_MEGABYTES);
  const dataDir = join(disk, 'data');
  const filler = join(disk, 'filler');
  const world = await createWorld({ random, name: 'full', dataDir });
  try {
    return await runFaultCycles(world, {
      cycles,
      lastsMs: LASTS_MS,
      begin: async () => fill(filler),
      inspect: inspectHealth,
      end: async () => rmSync(filler),
      mayBreakConnections: false,
      mustRefuse: true,
    });
  } finally {
    await world.close();
    unmount();
  }
}

/** Mounts an empty disk of this size that lives in memory. Returns the function that unmounts it. */
export function mountMemory(mountPoint: string, megabytes: number): () => void {
  mkdirSync(mountPoint);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mountPoint]);
  return undoLater(`mount ${mountPoint}`, () => insist(() => execFileSync('umount', [mountPoint])));
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
