/** The sources and pools of the configuration. */
import type { Config } from '../../config/config.ts';
import { routeDomain } from '../../config/fields.ts';
import { type ConfiguredSource, parseEndpoint } from '../../config/sources.ts';
import { plainAddress } from '../../system/address-block.ts';
import type { Pool, Source } from './source.ts';

type Settings = Pick<Config, 'hostname' | 'outbound'>;

/** Returns the sources of the configuration in their order. */
export function configuredSources({ hostname, outbound }: Settings): Source[] {
  return outbound.sources.map((source) => ({
    name: source.name,
    addresses: source.addresses.map(plainAddress),
    ehlo: (source.ehlo ?? hostname).toLowerCase(),
    ipv6: source.ipv6 ?? 'proven',
    way: wayOf(source),
  }));
}

/** Returns the pools of the configuration. Without any, one pool has all sources, for all mail. */
export function configuredPools(settings: Settings): Pool[] {
  const sources = configuredSources(settings);
  if (sources.length === 0) return [];
  const { pools } = settings.outbound;
  if (pools.length === 0) return [{ name: 'all', sources, tenantId: null, domain: null, kind: null }];
  return pools.map((pool) => ({
    name: pool.name,
    sources: sources.filter(({ name }) => pool.sources.includes(name)),
    tenantId: pool.tenant ?? null,
    domain: pool.domain === undefined ? null : routeDomain(pool.domain),
    kind: pool.kind ?? null,
  }));
}

function wayOf({ name, socks5, proxyProtocol, user, passwordFile }: ConfiguredSource): Source['way'] {
  const text = socks5 ?? proxyProtocol;
  if (text === undefined) return { kind: 'address' };
  const proxy = parseEndpoint(text);
  if (!proxy) throw new Error(`the proxy of the source "${name}" is no address with a port`);
  if (socks5 === undefined) return { kind: 'proxy-protocol', proxy };
  const login = user === undefined || passwordFile === undefined ? null : { user, passwordFile };
  return { kind: 'socks5', proxy, login };
}
