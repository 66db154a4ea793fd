/** The host names of domains that tracked links lead to, by which the public pages recognise their requests. */
import type { App } from '../../app.ts';
import type { DomainRow } from '../../db/tables.ts';
import { listTrackingHosts } from '../../domains/store.ts';
import { pageHosts } from '../../links/origin.ts';

export type TrackingHosts = {
  /** Returns true for the tracking host of a domain of any tenant. */
  has(hostName: string): boolean;
  /** Returns true when a host name may show pages about mail of the tenant: it is the tenant's own, or ours. */
  serves(hostName: string, tenantId: DomainRow['tenantId']): boolean;
  /** Reads the hosts again. */
  load(): Promise<void>;
};

/**
 * Returns the hosts, without any until `load`. They are read again after each change. The hosts of the public pages are none,
 * even when a domain names one: they show the pages of all tenants.
 */
export function createTrackingHosts({
  config,
  db,
  log,
  wakeups,
}: Pick<App, 'config' | 'db' | 'log' | 'wakeups'>): TrackingHosts {
  let tenantsOf = new Map<string, Set<string>>();
  const ownHosts = pageHosts(config);
  const load = async (): Promise<void> => {
    const found = new Map<string, Set<string>>();
    for (const { host, tenantId } of await listTrackingHosts(db.read)) {
      if (ownHosts.has(host)) continue;
      found.set(host, (found.get(host) ?? new Set()).add(tenantId));
    }
    tenantsOf = found;
  };
  wakeups.listen('trackingHosts', () => {
    load().catch((error: unknown) => log.error({ err: error }, 'the tracking hosts could not be read'));
  });
  return {
    load,
    has: (hostName) => tenantsOf.has(hostName),
    serves: (hostName, tenantId) => tenantsOf.get(hostName)?.has(tenantId) ?? true,
  };
}
