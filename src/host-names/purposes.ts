/**
 * The host names under which this installation serves HTTP, and what each of them serves. Names of the installation come from its settings;
 * names of domains begin with a label that says what they serve. Tracking hosts, which a domain chooses, are in the database.
 */
import type { Config } from '../config/config.ts';
import { type HostLabel, isHostLabel } from '../domains/name.ts';
import { hostNameOf } from '../http/transport/host-names.ts';
import { pageHosts } from '../links/origin.ts';

/**
 * Content of a host:
 *
 * - `api`: the API, its documentation, and the settings for mail programs.
 * - `pages`: the pages that links in mail lead to.
 * - `tracking`: the tracked links of one tenant.
 * - `mta_sts`: the MTA-STS policy of one domain.
 * - `discovery`: the settings for mail programs, of one domain.
 */
export type Purpose = 'api' | 'pages' | 'tracking' | 'mta_sts' | 'discovery';

export type HostConfig = Pick<Config, 'hostname' | 'http' | 'links'>;

/** Returns the names of the installation itself, in lower case and without a port. Those of the API come first. */
export function installationHosts(config: HostConfig): ReadonlyMap<string, readonly Purpose[]> {
  const api = new Set([hostNameOf(config.hostname), ...hostOfUrl(config.http.publicUrl)]);
  const pages = pageHosts(config);
  const names = [...new Set([...api, ...pages])];
  return new Map(
    names.map((name) => [
      name,
      [...(api.has(name) ? (['api'] as const) : []), ...(pages.has(name) ? (['pages'] as const) : [])],
    ]),
  );
}

function hostOfUrl(url: string): string[] {
  return url === '' ? [] : [hostNameOf(new URL(url).hostname)];
}

/** First labels of the hosts that a domain has, with what they serve. */
export const DOMAIN_LABELS = {
  'mta-sts': 'mta_sts',
  autoconfig: 'discovery',
  autodiscover: 'discovery',
} as const satisfies Record<HostLabel, Purpose>;

type DomainHost = { domain: string; purpose: (typeof DOMAIN_LABELS)[HostLabel] };

/** Returns the domain that a name such as `mta-sts.example.com` belongs to; undefined for all other names. */
export function readDomainHost(name: string): DomainHost | undefined {
  const [label = '', ...rest] = name.split('.');
  if (!isHostLabel(label) || rest.length === 0) return undefined;
  return { domain: rest.join('.'), purpose: DOMAIN_LABELS[label] };
}

/** Returns a function that returns what the host of a domain serves; undefined for all other hosts, those of the installation among them. */
export function domainHostPurpose(config: HostConfig): (name: string) => DomainHost['purpose'] | undefined {
  const own = installationHosts(config);
  return (name) => (own.has(name) ? undefined : readDomainHost(name)?.purpose);
}
