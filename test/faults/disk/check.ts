/**
 * Whether the volatile disk does what it says, before anything is judged by it: flushed bytes survive every cut,
 * unflushed ones as often as asked, and errors arrive.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Place, Result } from '../part.ts';
import { createVolatileDisk, mountImage } from './volatile-disk.ts';

const DISK_BYTES = 64 * 1024 * 1024;
const FILE_BYTES = 1024 * 1024;
const BLOCK_BYTES = 4096;

/** `survival` of the cut, and the least and most of the unflushed bytes that may then be there. */
const CASES = [
  { survival: 0, grainBytes: 4096, least: 0, most: 0 },
  { survival: 1, grainBytes: 4096, least: 1, most: 1 },
  { survival: 0.5, grainBytes: 512, least: 0.4, most: 0.6 },
];

/** @throws AssertionError when the instrument is broken */
export async function checkVolatileDisk({ directory }: Place): Promise<Result> {
  using disk = await createVolatileDisk(join(directory, 'check'), { sizeBytes: DISK_BYTES });
  const file = join(disk.mountPoint, 'file');
  const flushed = openSync(file, 'w');
  writeSync(flushed, Buffer.alloc(FILE_BYTES, 'a'));
  fsyncSync(flushed);
  overwriteUnflushed(file);
  for (const [index, { survival, grainBytes, least, most }] of CASES.entries()) {
    const path = join(directory, `check-${index}.image`);
    await disk.cut({ path, survival, grainBytes, seed: 7, delayWrites: 0 });
    const share = await shareOverwritten(path, join(directory, 'check-mounted'));
    assert.ok(share >= least && share <= most, `survival ${survival}: ${share} of the pieces survived`);
    rmSync(path);
  }
  await disk.failFlushes('next');
  assert.throws(() => fsyncSync(flushed), { code: 'EIO' });
  closeSync(flushed);
  return { lines: ['flushed bytes survive, unflushed ones as often as asked, errors arrive'], faults: [] };
}

/** Zeroes over the file's own blocks, past the file system's cache and without a flush. */
function overwriteUnflushed(file: string): void {
  const blocks = FILE_BYTES / BLOCK_BYTES;
  const args = [`bs=${BLOCK_BYTES}`, `count=${blocks}`, 'oflag=direct', 'conv=notrunc', 'status=none'];
  execFileSync('dd', ['if=/dev/zero', `of=${file}`, ...args]);
}

async function shareOverwritten(image: string, mountPoint: string): Promise<number> {
  using _mounted = await mountImage(image, mountPoint);
  const bytes = readFileSync(join(mountPoint, 'file'));
  assert.equal(bytes.length, FILE_BYTES, 'a flushed file lost its length');
  const zeroes = bytes.filter((byte) => byte === 0).length;
  assert.equal(bytes.filter((byte) => byte === 0x61).length, FILE_BYTES - zeroes);
  return zeroes / FILE_BYTES;
}
