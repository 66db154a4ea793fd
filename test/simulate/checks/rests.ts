/**
 * A site that cannot be reached rests: after five sessions in a row that did not open, no connection is tried for a while, and then
 * one at a time until one opens. Mail for it is not claimed meanwhile, so that it gets no attempt, but for the one that each probe sends.
 * Sites with several hosts and with TLS dial several times for a session, and are left out.
 */
import type { Observation } from '../observation.ts';
import type { Plan } from '../plan.ts';
import { VERIFIED_HOST } from '../verified-host.ts';
import type { MakeCheck } from './check.ts';
import { waysOf } from './ways.ts';

const FAILURES_BEFORE_REST = 5;
/** The shortest rest of the queue, less a margin. */
const MIN_REST_MS = 40_000;
/** Time for which a claim may be under way that was decided before the rest. It is released unsent. */
const CLAIM_MS = 1_000;

type Site = {
  failures: number;
  restsSince: number;
  /** Connections that were dialled and have not opened. */
  opening: Set<number>;
  /** Connections that were dialled while the site rested. */
  probes: Set<number>;
  /** Messages that were claimed while the site rested. */
  claimed: Set<string>;
};

export const checkRests: MakeCheck = (plan, fail) => {
  // A site has a state of its own for each source, so only the sites of plans without sources are watched.
  const watched = plan.policies.sources.length === 0 ? plan.sites.filter(isSimple) : [];
  const simple = new Set(watched.map(({ name }) => name));
  const ways = waysOf(plan, simple);
  let sites = new Map<string, Site>();
  /** Sites of the messages that hosts have taken, by the ids of their transactions. */
  const taken = new Map<number, string>();
  /** Claims that could not be stored or released are in doubt until the next start. */
  let failsCommits = false;
  const siteOf = (name: string): Site => {
    const site = sites.get(name) ?? newSite();
    sites.set(name, site);
    return site;
  };

  function checkClaim({ address, from, to }: Extract<Observation, { kind: 'changed' }>, at: number): void {
    const way = ways.get(address);
    if (!way || failsCommits) return;
    const site = siteOf(way.site);
    if (from === 'in_flight') site.claimed.delete(way.mail);
    if (to !== 'in_flight' || site.failures < FAILURES_BEFORE_REST || at <= site.restsSince + CLAIM_MS)
      return;
    if (at < site.restsSince + MIN_REST_MS) fail(`${address} is claimed while ${way.site} rests`);
    site.claimed.add(way.mail);
    if (site.claimed.size > 1) fail(`${address} is claimed while other mail probes ${way.site}`);
  }

  return {
    observe(observation, at) {
      if (observation.kind === 'started') {
        sites = new Map();
        failsCommits = false;
      }
      if (observation.kind === 'commit-failed') failsCommits = true;
      if (observation.kind === 'changed') checkClaim(observation, at);
      if (observation.kind === 'confirmed') {
        const name = taken.get(observation.id);
        if (name !== undefined) revive(siteOf(name));
      }
      if (!('connection' in observation)) return;
      const { id, host } = observation.connection;
      if (!simple.has(host.site)) return;
      const site = siteOf(host.site);
      if (observation.kind === 'taken') taken.set(observation.id, host.site);
      if (observation.kind === 'dialled') {
        site.opening.add(id);
        if (site.failures < FAILURES_BEFORE_REST) return;
        if (at < site.restsSince + MIN_REST_MS) fail(`${host.site} is dialled while it rests`);
        if (site.probes.size > 0) fail(`${host.site} gets two probes at a time`);
        site.probes.add(id);
      } else if (isSignOfLife(observation)) {
        site.opening.delete(id);
        revive(site);
      } else if (observation.kind === 'left') {
        const wasProbe = site.probes.delete(id);
        if (!site.opening.delete(id)) return;
        site.failures++;
        // A connection that was under way when the rest began says nothing new.
        if (wasProbe || site.failures === FAILURES_BEFORE_REST) site.restsSince = at;
      }
    },
  };
};

function newSite(): Site {
  return { failures: 0, restsSince: 0, opening: new Set(), probes: new Set(), claimed: new Set() };
}

/** Forgets the failures of a site that takes mail. */
function revive(site: Site): void {
  site.failures = 0;
  site.probes.clear();
  site.claimed.clear();
}

/** Returns true when the host has opened a session, or goes on with one. The reply to a message that it has taken is another sign. */
function isSignOfLife(observation: Observation): boolean {
  if (observation.kind === 'mail') return true;
  return (
    observation.kind === 'said' &&
    /^(?:EHLO|HELO)/.test(observation.line) &&
    observation.reply.startsWith('250')
  );
}

/** Domains that demand different things of TLS are different sites of the verified host. */
function isSimple({ name, hosts }: Plan['sites'][number]): boolean {
  return name !== VERIFIED_HOST && hosts.length === 1 && hosts[0]?.tls === 'none';
}
