/** A thousand pauses and resumes of a broadcast, at any moment of its work. */
import { pauseAtRandom } from '../../broadcasts/sending/random-control.ts';
import type { Place, Result } from '../part.ts';

const PAUSES = 1_000;

export async function pauseBroadcast({ seed }: Pick<Place, 'seed'>): Promise<Result> {
  await pauseAtRandom({ pauses: PAUSES, seed });
  return { lines: [`${PAUSES} pauses and resumes; each contact got the broadcast once`], faults: [] };
}
