/**
 * A source that has sent its first attempts of the day still sends retries: none of them waits long while nothing else goes to its site.
 * Sites rest for half an hour at most, and are probed then.
 */
import { WALL_START_MS } from '../simulation.ts';
import type { MakeCheck } from './check.ts';
import { waysOf } from './ways.ts';

/** Maximum time without a connection to the site after a retry has become due. */
const MAX_WAIT_MS = 45 * 60_000;

export const checkWarmUpRetries: MakeCheck = (plan, fail) => {
  const { sources, spam } = plan.policies;
  const { ends, clockSteps } = plan.faults;
  const isWatched = sources.some(({ isCold }) => isCold) && !spam && ends.length + clockSteps.length === 0;
  if (!isWatched) return {};
  const ways = waysOf(plan, new Set(plan.sites.map(({ name }) => name)));
  const dueAt = new Map<string, number>();
  const activeAt = new Map<string, number>();
  return {
    observe(observation, at) {
      if ('connection' in observation) activeAt.set(observation.connection.host.site, at);
      if (observation.kind !== 'changed') return;
      const { address, to } = observation;
      const due = dueAt.get(address);
      const site = ways.get(address)?.site;
      if (due !== undefined && site !== undefined) {
        const idleMs = at - Math.max(due, activeAt.get(site) ?? 0);
        if (idleMs > MAX_WAIT_MS)
          fail(
            `the retry of ${address} waits, and nothing goes to ${site} for ${Math.round(idleMs / 60_000)} minutes`,
          );
      }
      dueAt.delete(address);
      if (to === 'deferred' && observation.dueAt !== null)
        dueAt.set(address, observation.dueAt - WALL_START_MS);
    },
  };
};
