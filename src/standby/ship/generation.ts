/** A generation as the shipper knows it. */
import type { Clock } from '../../system/clock.ts';
import { startOfGeneration } from '../names.ts';
import type { Resumable } from './resumable.ts';

export type Generation = {
  name: string;
  /** Time of the monotonic clock, in milliseconds. */
  startedAt: number;
  /** Number of segments that were added. */
  sequence: number;
  /** Path of the base when it is made, until the first cut after it. */
  base: string | undefined;
  /** True when its base is in the spool or in the store. */
  isComplete: boolean;
  /** Time of the state of each segment that the store does not have, by its sequence. */
  unstored: Map<number, number>;
};

/** Returns a generation that begins. */
export function addGeneration(name: string, startedAt: number): Generation {
  return { name, startedAt, sequence: 0, base: undefined, isComplete: false, unstored: new Map() };
}

/** Returns a generation that goes on after its last segment. What an earlier run has left for the store is not among its segments. */
export function resumed(
  { generation: name, sequence }: Resumable,
  { clock, interrupted }: { clock: Pick<Clock, 'now' | 'elapsed'>; interrupted: Generation | undefined },
): Generation {
  const ageMs = Math.max(0, clock.now() - startOfGeneration(name));
  const unstored = interrupted?.name === name ? interrupted.unstored : new Map<number, number>();
  const startedAt = clock.elapsed() - ageMs;
  return { name, startedAt, sequence, base: undefined, isComplete: true, unstored };
}
