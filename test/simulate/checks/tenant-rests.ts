/** The mail of a tenant that a site refuses as spam is not claimed there for a while, also after a restart. */
import { SPAM } from '../host.ts';
import { SPAM_MATCHES, SPAM_REST_MS } from '../settings.ts';
import type { MakeCheck } from './check.ts';
import { waysOf } from './ways.ts';

const HOUR_MS = 3_600_000;
/** The longest time by which a rest grows without being stored again: a restart forgets that (queue/shaping/shaping.ts). */
const UNSTORED_MS = SPAM_REST_MS / 10;
/** Time within which the outcome is stored, and what was claimed before it is sent or given back. */
const BEGINS_WITHIN_MS = 5_000;

export const checkTenantRests: MakeCheck = (plan, fail) => {
  const { spam, sources } = plan.policies;
  // A clock that is set changes what a restart knows of the rest, and each source makes a site of its own.
  if (!spam || sources.length > 0 || plan.faults.clockSteps.length > 0) return {};
  const ways = waysOf(plan, new Set([spam.site]));
  let refused: number[] = [];
  let rest = { from: 0, until: 0 };
  /** Refusals that were sent, by the addresses that they are about. The daemon has not seen one whose connection broke first. */
  const sent = new Map<string, { isCounted: boolean }>();
  /** A run that ends, or cannot store something, may not know of a refusal. */
  let isInDoubt = false;
  return {
    observe(observation, at) {
      if (observation.kind === 'commit-failed' || observation.kind === 'stopping') isInDoubt = true;
      if (observation.kind === 'killed' && at < rest.from) isInDoubt = true;
      if (observation.kind === 'killed') {
        refused = [];
        // The next run knows only rests that are in force, as they were stored last.
        rest = at < rest.until ? { from: rest.from, until: rest.until - UNSTORED_MS } : { from: 0, until: 0 };
      }
      if (isInDoubt) return;
      if (observation.kind === 'refused' && observation.reply === SPAM) {
        const refusal = { isCounted: false };
        for (const address of observation.addresses) sent.set(address, refusal);
      }
      if (observation.kind !== 'changed') return;
      const refusal = observation.from === 'in_flight' ? sent.get(observation.address) : undefined;
      if (refusal) sent.delete(observation.address);
      if (refusal && !refusal.isCounted && observation.to === 'bounced') {
        refusal.isCounted = true;
        refused = [...refused, at].filter((time) => time > at - HOUR_MS);
        // The first refusal after a rest renews it.
        const isRenewed = rest.until > 0 && at < rest.until + HOUR_MS;
        if (refused.length < SPAM_MATCHES && !isRenewed) return;
        rest = { from: Math.max(at, rest.from) + BEGINS_WITHIN_MS, until: at + SPAM_REST_MS };
        refused = [];
      }
      if (observation.to !== 'in_flight') return;
      const isHeld = at > rest.from && at < rest.until;
      const way = ways.get(observation.address);
      if (isHeld && way?.tenant === spam.tenant)
        fail(`${observation.address} is claimed while ${way.tenant} rests at ${way.site}`);
    },
  };
};
