/** Housekeeping of blobs: files that no message names are removed, once an hour. */

import type { Clock } from '../system/clock.ts';
import { hourly, type Work } from '../system/worker.ts';
import type { Blobs } from './blobs.ts';

export function createBlobSweep(app: { clock: Clock; blobs: Blobs }): Work<'sweep'> {
  return hourly(app.clock, 'blob sweep', async () => {
    await app.blobs.sweep();
  });
}
