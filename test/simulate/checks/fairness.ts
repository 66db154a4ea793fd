/** A single mail of one tenant does not wait behind the many copies of another for the same site. */
import type { MakeCheck } from './check.ts';

/** The single mail of a crowd (make-plan.ts). */
const SINGLE = 'single';
/** Number of other messages for each connection that may be ahead: those that are claimed already, and a round of the tenants. */
const AHEAD_PER_CONNECTION = 6;
const MIN_AHEAD = 40;

export const checkFairness: MakeCheck = ({ size, limits }, fail) => {
  if (size !== 'crowd') return {};
  const most = Math.max(MIN_AHEAD, AHEAD_PER_CONNECTION * limits.connectionsPerSite);
  let isWaiting = false;
  let ahead = 0;
  return {
    observe(observation) {
      if (observation.kind === 'accepted' && observation.mail === SINGLE) isWaiting = true;
      if (observation.kind !== 'taken' || !isWaiting) return;
      if (observation.addresses.some((address) => address.startsWith(SINGLE))) isWaiting = false;
      else if (++ahead === most + 1)
        fail(`the single mail waits behind more than ${most} copies of another tenant`);
    },
  };
};
