/** Deferred mail is tried again when the schedule says, and not before. */
import { WALL_START_MS } from '../simulation.ts';
import type { MakeCheck } from './check.ts';

const MINUTE_MS = 60_000;
/** The schedule of engine retries, less its jitter of a tenth (queue/retry-schedule.ts). */
const LEAST_MINUTES = [1, 5, 10, 20, 40, 60, 120, 240].map((minutes) => minutes * 0.9);

export const checkRetries: MakeCheck = (_plan, fail) => {
  const dueAt = new Map<string, number>();
  let wallStartMs = WALL_START_MS;
  let wasSet = false;
  let sourceMissingAt = Number.NEGATIVE_INFINITY;
  return {
    observe(observation, at) {
      if (observation.kind === 'source-missing') sourceMissingAt = at;
      if (observation.kind === 'clock-set') {
        wallStartMs += observation.byMs;
        wasSet = true;
      }
      // Due times move with a clock that is set back, which no change of a state shows.
      if (observation.kind !== 'changed' || wasSet) return;
      const now = wallStartMs + at;
      const { address, to, attempts, expiresAt } = observation;
      if (to === 'in_flight') {
        const due = dueAt.get(address);
        if (due !== undefined && now < due - 1) fail(`${address} is tried ${due - now} ms before it is due`);
        dueAt.delete(address);
      } else if (observation.dueAt !== null) dueAt.set(address, observation.dueAt);
      if (to !== 'deferred' || observation.dueAt === null) return;
      // Mail whose source has failed leaves from another one soon.
      if (at <= sourceMissingAt + STORED_WITHIN_MS) return;
      const least = (LEAST_MINUTES[attempts - 1] ?? LEAST_MINUTES.at(-1) ?? 0) * MINUTE_MS;
      // The outcome is stored some time after the attempt, from which the delay counts.
      const waitMs = observation.dueAt - now + STORED_WITHIN_MS;
      if (waitMs < least && observation.dueAt !== expiresAt)
        fail(`attempt ${attempts} of ${address} is followed by another after ${Math.round(waitMs / 1000)} s`);
    },
  };
};

/** Maximum time from the end of an attempt until its outcome is stored, with the pauses of a failing commit (db/commit-outcome.ts). */
const STORED_WITHIN_MS = 120_000;
