/**
 * No site sees more connections than its limit. A connection counts from the moment at which it reaches its host until the host has
 * read QUIT or its end. One that ends at the moment at which another begins does not count, because the host may read either first.
 * All sites together get no more than the limit of the daemon, and those of a provider no more than its limit; there a connection counts
 * from its dial.
 */
import { VERIFIED_HOST } from '../verified-host.ts';
import type { MakeCheck } from './check.ts';

/** Time after which a host has read an encrypted QUIT, which nobody else sees: the longest latency of a host, and a margin. */
const QUIT_MS = 250;

export const checkConnections: MakeCheck = ({ limits, policies, sites: planned, domains }, fail) => {
  const sites = new Map<string, ReturnType<typeof limited>>();
  const daemon = limited('the daemon', limits.connections, QUIT_MS);
  const { sources, providerConnections } = policies;
  const perSource = Math.max(1, sources.length);
  const provider = limited('the provider', (providerConnections ?? Infinity) * perSource, QUIT_MS);
  const ofProvider = new Set(planned.filter(({ isOfProvider }) => isOfProvider).map(({ name }) => name));
  const demands = domains.filter(({ demand }) => demand !== undefined).length;
  /** Sources, and domains that demand different things of TLS, make several sites of the same hosts. */
  const keysOf = (name: string) => perSource * (name === VERIFIED_HOST ? 1 + demands : 1);
  const siteOf = (name: string) => {
    const site = sites.get(name) ?? limited(name, limits.connectionsPerSite * keysOf(name), 0);
    sites.set(name, site);
    return site;
  };
  return {
    observe(observation, at) {
      for (const one of [daemon, provider, ...sites.values()]) one.check(at, fail);
      if (!('connection' in observation)) return;
      const { kind, connection } = observation;
      const site = siteOf(connection.host.site);
      if (kind === 'dialled') daemon.add(connection.id, at);
      if (kind === 'dialled' && ofProvider.has(connection.host.site)) provider.add(connection.id, at);
      if (kind === 'left' || kind === 'closed') {
        daemon.remove(connection.id);
        provider.remove(connection.id);
      }
      if (kind === 'opened') site.add(connection.id, at);
      if (kind === 'closed') site.remove(connection.id);
    },
  };
};

/** Counts connections, and fails when they exceed the limit for longer than `toleranceMs`. */
function limited(name: string, limit: number, toleranceMs: number) {
  const open = new Set<number>();
  let excess: { at: number; rule: string } | undefined;
  return {
    add(id: number, at: number): void {
      open.add(id);
      if (open.size <= limit) return;
      excess ??= { at, rule: `${name} has ${open.size} connections, and the limit is ${limit}` };
    },
    remove(id: number): void {
      open.delete(id);
      if (open.size <= limit) excess = undefined;
    },
    check(at: number, fail: (rule: string) => void): void {
      if (excess && at > excess.at + toleranceMs) fail(excess.rule);
    },
  };
}
