/** The routes of the configuration. */
import type { Config } from '../config/config.ts';
import { routeDomain } from '../config/fields.ts';
import type { ConfiguredRoute } from '../config/outbound.ts';
import { DEFAULT_PORTS, type OutboundRoute, type Relay } from './route.ts';

/** Returns the routes of the configuration. */
export function configuredRoutes({ outbound }: Pick<Config, 'outbound'>): OutboundRoute[] {
  return outbound.routes.map((route) => ({
    name: route.name,
    tenantId: route.tenant ?? null,
    domain: route.domain === undefined ? null : routeDomain(route.domain),
    relay: relayOf(route),
    tlsPolicy: route.tlsPolicy ?? null,
    source: 'configuration',
  }));
}

function relayOf(route: ConfiguredRoute): Relay | null {
  const { name, hosts, tls = 'starttls', user, passwordFile, caFile } = route;
  if (hosts === undefined) return null;
  const login =
    user === undefined || passwordFile === undefined
      ? null
      : { user, password: { kind: 'file', path: passwordFile } as const };
  return {
    route: name,
    hosts,
    port: route.port ?? DEFAULT_PORTS[tls],
    tls,
    tlsName: route.tlsName ?? null,
    authorities: caFile === undefined ? null : { kind: 'file', path: caFile },
    isPrivate: route.private ?? false,
    login,
    connections: route.connections ?? null,
    recipientsPerMinute: route.recipientsPerMinute ?? null,
  };
}
