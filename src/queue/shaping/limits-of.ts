/**
 * Resolves the limits of a site, each with its origin. The operator comes first: the route of a relay, then the settings. The table of
 * providers and the defaults follow. Restrictions only lower what these say.
 */

import type { Config } from '../../config/config.ts';
import type { Relay } from '../../outbound-routes/route.ts';
import { providerOfSite } from '../../providers/provider-of-site.ts';
import type { Provider, ProviderLimits } from '../../providers/table.ts';
import { isWithin } from '../outcome/replies/words.ts';
import { MESSAGES_PER_CONNECTION, type SiteLimits } from '../schedule/limits.ts';
import type { Restriction } from './restriction.ts';

/** A site as far as its limits depend on it. */
export type ShapedSite = {
  key: string;
  /** Names of all its hosts, in lower case. */
  hosts: readonly string[];
  /** Null when the hosts are those of the domains. */
  relay: Pick<Relay, 'route' | 'connections' | 'recipientsPerMinute'> | null;
  /** Name of the source that its mail leaves from; null when the system chooses. */
  source: string | null;
};

type LimitName = keyof ProviderLimits;
const LIMIT_NAMES = [
  ...(['connections', 'providerConnections', 'connectionsPerMinute', 'recipientsPerMinute'] as const),
  'messagesPerConnection',
] as const satisfies readonly LimitName[];

/** The origin of a limit. `until` is in Unix milliseconds. */
type Origin =
  | { kind: 'route'; name: string }
  | { kind: 'setting'; name: string }
  | { kind: 'provider'; name: string }
  | { kind: 'default' }
  | { kind: 'rule'; name: string; until: number };

/** A limit with its origin; `value` is null when there is no limit. */
type Limit = { value: number | null; origin: Origin };
export type ResolvedLimits = Record<LimitName, Limit>;

type Settings = Pick<Config, 'delivery'>;

/** Returns the limits of a site. `restrictions` are those in force there that lower limits. */
export function resolveLimits(
  { delivery }: Settings,
  site: ShapedSite,
  restrictions: readonly Restriction[],
): ResolvedLimits {
  const provider = providerOfSite(site);
  const sources = [...operatorLimits({ delivery }, site, provider), ...tableLimits(provider)];
  const limits = Object.fromEntries(
    LIMIT_NAMES.map((name) => [name, firstOf(sources, name) ?? defaultOf(delivery, name)]),
  ) as ResolvedLimits;
  const { connections } = limits;
  if (connections.origin.kind === 'provider') limits.connections = cappedBySetting(delivery, connections);
  for (const restriction of restrictions) lower(limits, restriction);
  return limits;
}

/** Returns the limits in the form that the schedule obeys. Receivers count by address, so each source has the connections of a provider. */
export function siteLimits(
  limits: ResolvedLimits,
  { source }: Pick<ShapedSite, 'source'>,
  provider: Pick<Provider, 'name'> | undefined,
): SiteLimits {
  const shared = limits.providerConnections.value;
  const name = source === null ? provider?.name : `${provider?.name} from ${source}`;
  return {
    connections: limits.connections.value ?? 1,
    connectionsPerMinute: limits.connectionsPerMinute.value,
    recipientsPerMinute: limits.recipientsPerMinute.value,
    messagesPerConnection: limits.messagesPerConnection.value ?? MESSAGES_PER_CONNECTION,
    group:
      provider === undefined || name === undefined || shared === null ? null : { name, connections: shared },
  };
}

type Source = { limits: ProviderLimits; origin: Origin };

function* operatorLimits(
  { delivery }: Settings,
  { hosts, relay }: ShapedSite,
  provider: Provider | undefined,
): Iterable<Source> {
  if (relay) {
    const { connections, recipientsPerMinute } = relay;
    const limits = {
      ...(connections !== null && { connections }),
      ...(recipientsPerMinute !== null && { recipientsPerMinute }),
    };
    yield { limits, origin: { kind: 'route', name: relay.route } };
  }
  // A setting for a host says more than one for its provider.
  for (const { host, ...limits } of delivery.limits)
    if (host !== undefined && hosts.some((own) => isWithin(own, host.toLowerCase())))
      yield { limits, origin: { kind: 'setting', name: `delivery.limits (${host})` } };
  for (const { provider: name, ...limits } of delivery.limits)
    if (name !== undefined && name === provider?.name)
      yield { limits, origin: { kind: 'setting', name: `delivery.limits (${name})` } };
}

function tableLimits(provider: Provider | undefined): Source[] {
  return provider
    ? [{ limits: provider.limits ?? {}, origin: { kind: 'provider', name: provider.name } }]
    : [];
}

function firstOf(sources: readonly Source[], name: LimitName): Limit | undefined {
  for (const { limits, origin } of sources) {
    const value = limits[name];
    if (value !== undefined) return { value, origin };
  }
  return undefined;
}

function defaultOf(delivery: Config['delivery'], name: LimitName): Limit {
  if (name === 'connections') return settingOf(delivery);
  return {
    value: name === 'messagesPerConnection' ? MESSAGES_PER_CONNECTION : null,
    origin: { kind: 'default' },
  };
}

function cappedBySetting(delivery: Config['delivery'], limit: Limit): Limit {
  const setting = settingOf(delivery);
  return (setting.value ?? 0) < (limit.value ?? 0) ? setting : limit;
}

function settingOf({ connectionsPerSite }: Config['delivery']): Limit {
  return { value: connectionsPerSite, origin: { kind: 'setting', name: 'delivery.connectionsPerSite' } };
}

/** Lowers limits to those of a restriction. One for a provider limits its connections together too. */
function lower(limits: ResolvedLimits, { rule, lower: lowered, until, place }: Restriction): void {
  if (lowered === null) return;
  const origin: Origin = { kind: 'rule', name: rule, until };
  const isOfProvider = place.startsWith('provider ');
  const wanted: ProviderLimits = {
    ...lowered,
    ...(isOfProvider && lowered.connections !== undefined && { providerConnections: lowered.connections }),
  };
  for (const name of LIMIT_NAMES) {
    const value = wanted[name];
    const before = limits[name].value;
    if (value !== undefined && (before === null || value < before)) limits[name] = { value, origin };
  }
}
