/** Guards of a daemon that has nothing to do, for tests of other limits. */
import type { Clock } from '../../src/system/clock.ts';
import { createGuards, type Guards } from '../../src/system/guards/guards.ts';

const none = () => 0;

/** The load of a daemon that has nothing to do. */
export const IDLE_LOAD = {
  writerLagMs: none,
  pendingWrites: none,
  pendingBytes: none,
  maxPendingWrites: 1_000,
  maxPendingBytes: 1_000,
  loopDelayMs: none,
  isDiskLow: () => false,
};

/** Returns guards that refuse nothing because of load. */
export function idleGuards(clock: Pick<Clock, 'elapsed'>): Guards {
  return createGuards(clock, IDLE_LOAD);
}
