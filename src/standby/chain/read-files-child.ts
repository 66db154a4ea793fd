/**
 * Reads files in a process of its own, for raw-files.ts. Each line of the input is a path in JSON. The answer is the size of the file in 8 bytes and then as many
 * bytes of it; a file that does not exist has the size 0. The output of the process is read as slowly as its reader wishes.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const STDOUT = 1;
const SIZE_BYTES = 8;
const buffer = Buffer.allocUnsafeSlow(1024 * 1024);

for await (const line of createInterface({ input: process.stdin })) answer(JSON.parse(line) as string);

function answer(path: string): void {
  const file = openIfExists(path);
  try {
    const bytes = file === undefined ? 0 : fstatSync(file).size;
    const size = Buffer.alloc(SIZE_BYTES);
    size.writeBigUInt64BE(BigInt(bytes));
    writeFully(size);
    for (let at = 0; file !== undefined && at < bytes; ) {
      const slice = buffer.subarray(0, Math.min(buffer.length, bytes - at));
      fill(file, slice, at);
      writeFully(slice);
      at += slice.length;
    }
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function openIfExists(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Fills a slice. A file that has become shorter has zeros there: its commit that is copied back says its size. */
function fill(file: number, slice: Buffer, at: number): void {
  let done = 0;
  for (let bytes = -1; done < slice.length && bytes !== 0; done += bytes)
    bytes = readSync(file, slice, done, slice.length - done, at + done);
  slice.fill(0, done);
}

function writeFully(bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(STDOUT, bytes, done);
}
