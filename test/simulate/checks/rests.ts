/**
 * A site that cannot be reached rests: after five sessions in a row that did not open, no connection is tried for a while, and then
 * one at a time until one opens. Sites with several hosts and with TLS dial several times for a session, and are left out.
 */
import type { Observation } from '../observation.ts';
import type { Plan } from '../plan.ts';
import type { MakeCheck } from './check.ts';

const FAILURES_BEFORE_REST = 5;
/** The shortest rest of the queue, less a margin. */
const MIN_REST_MS = 40_000;

type Site = {
  failures: number;
  restsSince: number;
  /** Connections that were dialled and have not opened. */
  opening: Set<number>;
  /** Connections that were dialled while the site rested. */
  probes: Set<number>;
};

export const checkRests: MakeCheck = (plan, fail) => {
  const simple = new Set(plan.sites.filter(isSimple).map(({ name }) => name));
  let sites = new Map<string, Site>();
  const siteOf = (name: string): Site => {
    const site = sites.get(name) ?? { failures: 0, restsSince: 0, opening: new Set(), probes: new Set() };
    sites.set(name, site);
    return site;
  };
  return {
    observe(observation, at) {
      if (observation.kind === 'started') sites = new Map();
      if (!('connection' in observation)) return;
      const { id, host } = observation.connection;
      if (!simple.has(host.site)) return;
      const site = siteOf(host.site);
      if (observation.kind === 'dialled') {
        site.opening.add(id);
        if (site.failures < FAILURES_BEFORE_REST) return;
        if (at < site.restsSince + MIN_REST_MS) fail(`${host.site} is dialled while it rests`);
        if (site.probes.size > 0) fail(`${host.site} gets two probes at a time`);
        site.probes.add(id);
      } else if (isSignOfLife(observation)) {
        site.opening.delete(id);
        site.failures = 0;
        site.probes.clear();
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

/** Returns true when the host has opened a session, or goes on with one. */
function isSignOfLife(observation: Observation): boolean {
  if (observation.kind === 'mail') return true;
  return (
    observation.kind === 'said' &&
    /^(?:EHLO|HELO)/.test(observation.line) &&
    observation.reply.startsWith('250')
  );
}

function isSimple({ hosts }: Plan['sites'][number]): boolean {
  return hosts.length === 1 && hosts[0]?.tls === 'none';
}
