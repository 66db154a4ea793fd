/**
 * Lists the host names under which this installation serves HTTP, with their owners. It is what certificates are ordered for, and what the
 * HTTPS listener serves. Nothing here asks DNS, so a name in the list may still lead elsewhere.
 */
import { defineRead, type Tx } from '../db/operation.ts';
import type { DomainRow } from '../db/tables.ts';
import { findReceiver, listReceivers } from '../domains/receiving/store.ts';
import { findTrackingHost, listTrackingHosts, type TrackingHost } from '../domains/tracking-host-store.ts';
import {
  DOMAIN_LABELS,
  type HostConfig,
  installationHosts,
  type Purpose,
  readDomainHost,
} from './purposes.ts';

type ServedName = {
  /** Host name in lower case and A-labels, without a final dot. */
  name: string;
  /** The tenant of the name; null for a name of the installation itself. */
  tenantId: DomainRow['tenantId'] | null;
  serves: readonly Purpose[];
  /**
   * False for the tracking host of a domain whose verification has lapsed. It is served as long as it leads here, but a certificate is
   * ordered for verified names alone.
   */
  isVerified: boolean;
};

/** `now` is in Unix milliseconds. */
type Asked = { config: HostConfig; now: number };

/** Returns every name, those of the installation first. `config` may hold more than these sections. */
export const listServedNames = defineRead(
  'hostNames.listServedNames',
  async (tx, { config, now }: Asked): Promise<ServedName[]> => {
    const names = new Map<string, ServedName>();
    const add = (served: ServedName): void => {
      if (!names.has(served.name)) names.set(served.name, served);
    };
    for (const [name, serves] of installationHosts(config)) add(ownName(name, serves));
    for (const { name, tenantId, productType } of await listReceivers(tx, now)) {
      for (const [label, purpose] of Object.entries(DOMAIN_LABELS)) {
        if (hasHost(purpose, productType))
          add({ name: `${label}.${name}`, tenantId, serves: [purpose], isVerified: true });
      }
    }
    for (const tracking of await listTrackingHosts(tx, now)) add(trackingName(tracking));
    return [...names.values()];
  },
);

/** Returns a name with its owner; undefined when nothing is served there. It agrees with `listServedNames`. */
export async function findServedName(
  tx: Tx,
  name: string,
  { config, now }: Asked,
): Promise<ServedName | undefined> {
  const serves = installationHosts(config).get(name);
  if (serves) return ownName(name, serves);
  const host = readDomainHost(name);
  if (host) {
    const receiver = await findReceiver(tx, host.domain, now);
    if (!receiver || !hasHost(host.purpose, receiver.productType)) return undefined;
    return { name, tenantId: receiver.tenantId, serves: [host.purpose], isVerified: true };
  }
  const tracking = await findTrackingHost(tx, name, now);
  return tracking && trackingName(tracking);
}

function ownName(name: string, serves: readonly Purpose[]): ServedName {
  return { name, tenantId: null, serves, isVerified: true };
}

function trackingName({ host: name, tenantId, isVerified }: TrackingHost): ServedName {
  return { name, tenantId, serves: ['tracking'], isVerified };
}

/** A domain without mailboxes has no settings for mail programs. */
function hasHost(purpose: Purpose, productType: DomainRow['productType']): boolean {
  return purpose !== 'discovery' || productType !== 'api';
}
