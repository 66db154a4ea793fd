/** Lists the sources as the operator sees them, without secrets. */
import type { App } from '../../app.ts';
import type { OperatorSuspensionRow } from '../../db/outbound-tables.ts';
import { configuredPools, configuredSources } from './configured.ts';
import type { Pool, Source } from './source.ts';
import { suspensionsOf } from './sources.ts';
import { listOperatorSuspensions, listSuspensions } from './store.ts';
import { progressOf, type WarmUpProgress } from './warm-up/progress.ts';
import { listFirstAttempts, listWarmUps } from './warm-up/store.ts';
import { dayOf } from './warm-up/warm-up.ts';

export type ShownSource = {
  name: string;
  addresses: readonly string[];
  ehlo: string;
  /** Says when its IPv6 address is used. */
  ipv6: Source['ipv6'];
  /** The proxy with its port; null for an address of this machine. */
  proxy: { kind: 'socks5' | 'proxy-protocol'; address: string; port: number } | null;
  /** Names of the pools that have the source. */
  pools: string[];
  /** Addresses from which no mail leaves at present. Times are in Unix milliseconds; `until` is that of the next probe. */
  suspended: { address: string; reason: string; since: number; until: number }[];
  /** The word of the operator, by which no mail leaves from the source; null without one. The time is in Unix milliseconds. */
  suspendedByHand: { reason: string | null; since: number } | null;
  /** Null when the source is not warmed up. */
  warmUp: WarmUpProgress | null;
};

/** A pool with the names of its sources. Null stands for all tenants, domains or kinds. */
export type ShownPool = Omit<Pool, 'sources'> & { sources: string[] };

/** Returns all pools in the order of the configuration. */
export function listPools({ config }: Pick<App, 'config'>): ShownPool[] {
  return configuredPools(config).map((pool) => ({ ...pool, sources: pool.sources.map(({ name }) => name) }));
}

/** Returns all sources in the order of the configuration. */
export async function listSources({
  config,
  db,
  clock,
}: Pick<App, 'config' | 'db' | 'clock'>): Promise<ShownSource[]> {
  const now = clock.now();
  const warmUps = await listWarmUps(db.read);
  const counts = await listFirstAttempts(db.read, dayOf(now));
  const warmUpOf = (name: string) => {
    const warmUp = warmUps.find(({ source }) => source === name);
    return warmUp ? progressOf(warmUp, counts, now) : null;
  };
  const suspensions = await listSuspensions(db.read);
  const byHand = await listOperatorSuspensions(db.read);
  const pools = configuredPools(config);
  return configuredSources(config).map((source) => ({
    name: source.name,
    addresses: source.addresses,
    ehlo: source.ehlo,
    ipv6: source.ipv6,
    proxy: proxyOf(source),
    pools: pools
      .filter(({ sources }) => sources.some(({ name }) => name === source.name))
      .map(({ name }) => name),
    suspended: suspensionsOf(source, suspensions).map(({ address, reason, since, until }) => ({
      address,
      reason,
      since,
      until,
    })),
    suspendedByHand: wordOf(byHand, source.name),
    warmUp: warmUpOf(source.name),
  }));
}

function wordOf(suspensions: readonly OperatorSuspensionRow[], name: string): ShownSource['suspendedByHand'] {
  const found = suspensions.find(({ source }) => source === name);
  return found ? { reason: found.reason, since: found.since } : null;
}

function proxyOf({ way }: Source): ShownSource['proxy'] {
  return way.kind === 'address' ? null : { kind: way.kind, ...way.proxy };
}
