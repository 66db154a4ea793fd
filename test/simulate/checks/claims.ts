/**
 * Every claim is settled, or released unsent, by the run that made it. It counts as interrupted only because that run ended, or because
 * its outcome could not be stored.
 */
import type { MakeCheck } from './check.ts';

type Claimed = { at: number; run: number; interruptedAttempts: number };

export const checkClaims: MakeCheck = (_plan, fail) => {
  const claimed = new Map<string, Claimed>();
  const attempts = new Map<string, number>();
  let run = 0;
  let isStopping = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  return {
    observe(observation, at) {
      if (observation.kind === 'started') {
        run = observation.run;
        isStopping = false;
      }
      if (observation.kind === 'stopping') isStopping = true;
      if (observation.kind === 'commit-failed') failedAt = at;
      if (observation.kind !== 'changed') return;
      const { address, from, to } = observation;
      if (to === 'in_flight') {
        if (observation.attempts !== (attempts.get(address) ?? 0) + 1)
          fail(`attempt ${observation.attempts} of ${address} follows attempt ${attempts.get(address) ?? 0}`);
        attempts.set(address, observation.attempts);
        claimed.set(address, { at, run, interruptedAttempts: observation.interruptedAttempts });
      }
      if (from !== 'in_flight') return;
      const claim = claimed.get(address);
      claimed.delete(address);
      const isExcused = claim === undefined || claim.run !== run || isStopping || failedAt >= claim.at;
      const wasInterrupted =
        claim !== undefined && observation.interruptedAttempts > claim.interruptedAttempts;
      if (to === 'ready' && wasInterrupted && !isExcused)
        fail(`the claim of ${address} ended without an outcome`);
    },
  };
};
