/** Returns what the limits of a site depend on. */
import type { Route } from '../site/route.ts';
import type { ShapedSite } from './limits-of.ts';

export function shapedSite({ site, hosts, relay, source }: Extract<Route, { kind: 'hosts' }>): ShapedSite {
  const names = hosts.map(({ name }) => name.toLowerCase());
  return { key: site, hosts: names, relay, source: source?.name ?? null };
}
