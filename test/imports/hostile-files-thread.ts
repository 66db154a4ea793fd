/**
 * Reads hostile files in a thread, whose heap has nothing of the other tests in it: the bytes that they leave behind, or
 * have collected meanwhile, would otherwise count as held by the reader.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { readRecords } from '../../src/imports/records.ts';
import { HOSTILE, PIECE_BYTES } from './hostile-files.ts';

/** Outcome of one file. `grownBytes` is what the heap of the thread has gained after a collection. */
export type HostileReading = { error: string | undefined; takenBytes: number; grownBytes: number };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function read(file: Buffer): Promise<HostileReading> {
  let takenBytes = 0;
  function* counted() {
    for (let at = 0; at < file.length; at += PIECE_BYTES) {
      const piece = file.subarray(at, at + PIECE_BYTES);
      takenBytes += piece.length;
      yield piece;
    }
  }
  const heldBefore = heldBytes();
  let error: string | undefined;
  for await (const { fault } of readRecords(counted())) error = fault?.message;
  return { error, takenBytes, grownBytes: heldBytes() - heldBefore };
}

parentPort?.once('message', async (name: string) => {
  const file = HOSTILE[name]?.();
  if (!file) throw new Error(`there is no file "${name}"`);
  parentPort?.postMessage(await read(file));
});
