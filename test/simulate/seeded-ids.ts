/** Makes ids of a seed. Ids decide the order of rows, so a seed would otherwise not repeat its history. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { randomText } from '../../src/system/ids.ts';
import { createRandom } from '../support/random.ts';

/** Draws the random part of ids from the seed until `restore` is called. */
export function seedIds(seed: number): { restore(): void } {
  const real = crypto.randomFillSync;
  const random = createRandom(seed);
  let hasFilled = false;
  crypto.randomFillSync = (<Bytes extends NodeJS.ArrayBufferView>(bytes: Bytes): Bytes => {
    const octets = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let index = 0; index < octets.length; index++) octets[index] = random(256);
    hasFilled = true;
    return bytes;
  }) as typeof crypto.randomFillSync;
  syncBuiltinESMExports();
  // Ids come from a pool, which may hold bytes of before.
  while (!hasFilled) randomText();
  return {
    restore() {
      crypto.randomFillSync = real;
      syncBuiltinESMExports();
    },
  };
}
