/** The host names of domains that tracked links lead to, by which the public pages recognise their requests. */
import type { App } from '../../app.ts';
import type { DomainRow } from '../../db/tables.ts';
import { findTrackingHost, listTrackingHostNames } from '../../domains/tracking-host-store.ts';
import { installationHosts } from '../../host-names/purposes.ts';

export type TrackingHosts = {
  /** Returns true for a host that a domain of any tenant has named. */
  has(hostName: string): boolean;
  /** Returns true when a host name may show pages about mail of the tenant: it belongs to the tenant, or to the installation. */
  serves(hostName: string, tenantId: DomainRow['tenantId']): Promise<boolean>;
  /** Reads the hosts again. */
  load(): Promise<void>;
};

/**
 * Returns the hosts, without any until `load`. They are read again after each change. The hosts of the installation are none, even when a
 * domain names one: they show the pages of all tenants.
 */
export function createTrackingHosts({
  clock,
  config,
  db,
  log,
  wakeups,
}: Pick<App, 'clock' | 'config' | 'db' | 'log' | 'wakeups'>): TrackingHosts {
  let names: ReadonlySet<string> = new Set();
  const ownHosts = installationHosts(config);
  const load = async (): Promise<void> => {
    names = new Set((await listTrackingHostNames(db.read)).filter((name) => !ownHosts.has(name)));
  };
  wakeups.listen('trackingHosts', () => {
    load().catch((error: unknown) => log.error({ err: error }, 'the tracking hosts could not be read'));
  });
  return {
    load,
    has: (hostName) => names.has(hostName),
    async serves(hostName, tenantId) {
      if (!names.has(hostName)) return true;
      return (await findTrackingHost(db.read, hostName, clock.now()))?.tenantId === tenantId;
    },
  };
}
