/** Returns the site as far as its limits depend on it. Its hosts are all of them, so that its provider is the same at each lookup. */
import type { Route } from '../site/route.ts';
import { hostNamesOf } from '../site-name.ts';
import type { ShapedSite } from './limits-of.ts';

export function shapedSite({ site, hosts, relay, source }: Extract<Route, { kind: 'hosts' }>): ShapedSite {
  const planned = hosts.map(({ name }) => name.toLowerCase());
  const names = new Set([...(relay ? [] : hostNamesOf(site)), ...planned]);
  return { key: site, hosts: [...names], relay, source: source?.name ?? null };
}
