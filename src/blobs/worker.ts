/** Housekeeping of blobs: files that no message names are removed, once an hour. */
import type { Clock } from '../system/clock.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { Blobs } from './blobs.ts';

const PERIOD_MS = 3_600_000;

export function createBlobSweep(app: { clock: Clock; blobs: Blobs }): Work<'run'> {
  return periodic(app.clock, {
    name: 'blob sweep',
    periodMs: PERIOD_MS,
    async run() {
      await app.blobs.sweep();
    },
  });
}
