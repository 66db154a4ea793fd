/**
 * Stores the tracking hosts of domains, and says to which domain each belongs. A host belongs to the domain for which it was first found
 * right, as long as no other tenant receives the mail of that domain: whoever has lost a domain to somebody else shows nothing at its hosts.
 * A domain that has lapsed while nobody else has it keeps its hosts, because mail that was sent names them.
 */
import { wakeAfterCommit } from '../db/commit-wakeups.ts';
import type { Tx } from '../db/operation.ts';
import { insertRowOnce } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { DomainRow } from '../db/tables.ts';
import type { TrackingHostRow } from '../db/tracking-tables.ts';
import { findReceiver } from './receiving/store.ts';

/** Maximum number of tracking hosts that a domain has had and keeps. Each of them is served, and has a certificate of its own. */
export const MAX_TRACKING_HOSTS = 10;

type Claim = Pick<TrackingHostRow, 'host' | 'domainId'> & { now: number };

/**
 * Stores that a host was found right for a domain, and forgets the oldest hosts of the domain beyond the maximum. The row of the domain has
 * its new state already. Returns true when the host belongs to the domain.
 */
export async function claimTrackingHost(tx: Tx, { host, domainId, now }: Claim): Promise<boolean> {
  if (await insertRowOnce(tx, 'trackingHosts', { host, domainId, since: now })) {
    await forgetOldest(tx, domainId);
    wakeAfterCommit('trackingHosts', host);
  }
  return (await findTrackingHost(tx, host, now))?.domainId === domainId;
}

async function forgetOldest(tx: Tx, domainId: DomainRow['id']): Promise<void> {
  const kept = tx
    .selectFrom('trackingHosts')
    .select('host')
    .where('domainId', '=', domainId)
    .orderBy('since', 'desc')
    .orderBy('host')
    .limit(MAX_TRACKING_HOSTS);
  await tx
    .deleteFrom('trackingHosts')
    .where('domainId', '=', domainId)
    .where('host', 'not in', kept)
    .execute();
}

/** Forgets the hosts of a domain that is deleted. Another domain that has named one of them has it from now on. */
export async function forgetTrackingHosts(tx: Tx, domainId: DomainRow['id']): Promise<void> {
  await tx.deleteFrom('trackingHosts').where('domainId', '=', domainId).execute();
  wakeAfterCommit('trackingHosts', domainId);
}

export type TrackingHost = Pick<TrackingHostRow, 'host' | 'domainId'> &
  Pick<DomainRow, 'tenantId'> & {
    /** True while the verification of the domain stands. */
    isVerified: boolean;
  };

type Claimant = Pick<TrackingHostRow, 'host' | 'domainId'> & Pick<DomainRow, 'tenantId' | 'name'>;

const claimantsOf = statement((db, param: Param<{ host: string }>) =>
  db
    .selectFrom('trackingHosts')
    .innerJoin('domains', 'domains.id', 'trackingHosts.domainId')
    .select(['trackingHosts.host', 'trackingHosts.domainId', 'domains.tenantId', 'domains.name'])
    .where('trackingHosts.host', '=', param('host'))
    .orderBy('trackingHosts.since')
    .orderBy('trackingHosts.domainId'),
);

/** Returns a tracking host with the domain that it belongs to; undefined when it belongs to none. `now` is in Unix milliseconds. */
export async function findTrackingHost(tx: Tx, host: string, now: number): Promise<TrackingHost | undefined> {
  return chooseOwner(tx, await claimantsOf.all(tx, { host }), now);
}

/** Returns all tracking hosts that belong to a domain. */
export async function listTrackingHosts(tx: Tx, now: number): Promise<TrackingHost[]> {
  const owned: TrackingHost[] = [];
  for (const host of await listTrackingHostNames(tx)) {
    const owner = await findTrackingHost(tx, host, now);
    if (owner) owned.push(owner);
  }
  return owned;
}

/** Returns the names of all hosts that a domain has named, whether it has them still or not. */
export async function listTrackingHostNames(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('trackingHosts').select('host').distinct().execute();
  return rows.map(({ host }) => host);
}

/** Claimants come in the order of their claims. One whose verification stands comes before those that have lapsed. */
async function chooseOwner(
  tx: Tx,
  claimants: readonly Claimant[],
  now: number,
): Promise<TrackingHost | undefined> {
  let lapsed: TrackingHost | undefined;
  for (const { name, ...claimant } of claimants) {
    const receiver = await findReceiver(tx, name, now);
    if (receiver?.id === claimant.domainId) return { ...claimant, isVerified: true };
    if (!receiver) lapsed ??= { ...claimant, isVerified: false };
  }
  return lapsed;
}
