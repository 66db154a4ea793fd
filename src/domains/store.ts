/**
 * Stores domains. Nothing else writes this table; sending/ reads it for senders and signers, and spool/ relates it to
 * queued mail. A deleted domain is visible only to the signer, and to the operator who publishes its key.
 */

import { wakeAfterCommit } from '../db/commit-wakeups.ts';
import { hasValues } from '../db/has-values.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { findColumns, insertRow, updateRows } from '../db/rows.ts';
import type { DomainRow, DomainStatus } from '../db/tables.ts';
import type { EventType } from '../events/store.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import { cancelTask, completeTask, type Lease, scheduleTask } from '../tasks/store.ts';
import type { Reach } from '../tenants/authenticate.ts';
import type { Verdicts } from './check.ts';
import { type Key, unusedKey, withoutFuture } from './keys/states.ts';
import { type DomainKey, listKeys, listKeysOf, putKey, removeKey } from './keys/store.ts';
import { hastenLook } from './keys/task.ts';
import { findName } from './name.ts';
import { isIdWithin } from './reach.ts';
import { returnPathName } from './records.ts';
import { countBroadcasts, hasScheduledMail } from './spool-store.ts';
import {
  afterCheck,
  type CheckMoment,
  type DomainState,
  type Finding,
  type Findings,
  trackingHostOf,
  usesReturnPath,
  withTracking,
} from './states.ts';
import { claimTrackingHost, forgetTrackingHosts } from './tracking-host-store.ts';
import { recordTransition } from './transition.ts';

/** Columns that are derived from others. */
type Derived = 'returnPathHost' | 'trackingHost' | 'trackingCheckedAt';
export type Domain = Omit<DomainRow, Derived | 'records' | 'deletedAt'> & {
  findings: Findings;
  /** Keys and selectors beside the RSA key that signs. */
  keys: readonly DomainKey[];
};

/** Maximum number of domains per tenant, each checked in DNS every day. */
export const MAX_DOMAINS = 1_000;

/**
 * Stores a new domain, as part of a write.
 * @throws AppError already_exists with `details.id` (other tenants may have the same name); validation_error at the
 * maximum number
 */
export async function insertDomain(tx: Tx, domain: Domain): Promise<void> {
  await requireNewDomain(tx, domain.tenantId, domain.name);
  const { findings, keys, ...columns } = domain;
  await insertRow(tx, 'domains', {
    ...columns,
    ...derivedFrom(domain),
    records: JSON.stringify(findings),
    deletedAt: null,
  });
  for (const { selector, algorithm } of keys)
    await putKey(tx, { domainId: domain.id, ...unusedKey(selector, algorithm) });
  wakeAfterCommit('zone', domain.name);
  await scheduleCheck(tx, domain);
}

/**
 * Checks that a domain can be added, before its key is generated. The write checks again.
 * @throws AppError the errors of `insertDomain`
 */
export async function requireNewDomain(tx: Tx, tenantId: DomainRow['tenantId'], name: string): Promise<void> {
  const existing = await liveDomains(tx, tenantId).where('name', '=', name).executeTakeFirst();
  if (existing) {
    throw new AppError('already_exists', `The domain ${name} exists already`, {
      param: 'name',
      details: { id: existing.id },
    });
  }
  const { count } = await liveDomains(tx, tenantId)
    .clearSelect()
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= MAX_DOMAINS) {
    throw limitReached('domains', count);
  }
}

/** Returns a domain. @throws AppError not_found, also for the domain of another tenant */
export async function getDomain(tx: Tx, tenantId: DomainRow['tenantId'], id: string): Promise<Domain> {
  const row = await liveDomains(tx, tenantId)
    .where('id', '=', id as DomainRow['id'])
    .executeTakeFirst();
  if (!row) throw notFound('Domain');
  return toDomain(tx, row);
}

/** Returns a domain of any tenant, unless it is deleted. The id comes from a row. */
export async function findDomain(tx: Tx, id: DomainRow['id']): Promise<Domain | undefined> {
  const query = tx.selectFrom('domains').selectAll().where('id', '=', id).where('deletedAt', 'is', null);
  const row = await query.executeTakeFirst();
  return row && toDomain(tx, row);
}

/** Returns the name of a domain of any tenant, also once it is deleted. The id comes from a row. */
export async function findDomainName(tx: Tx, id: DomainRow['id']): Promise<string | undefined> {
  const row = await findColumns(tx, 'domains', { select: ['name'], where: { id } });
  return row?.name;
}

/** `name` may be in any case, in Unicode or A-labels. Text that is not a name matches no domain. */
type DomainList = PageRequest & { status?: DomainStatus | undefined; name?: string | undefined };

/** Returns a page of the domains within reach, newest first. */
export function listDomains(
  tx: Tx,
  reach: Reach,
  { status, name, ...page }: DomainList,
): Promise<Page<Domain>> {
  const all = liveDomains(tx, reach.tenantId).where(isIdWithin(reach, 'id'));
  const named = name === undefined ? all : all.where('name', '=', findName(name) ?? name);
  const wanted = status === undefined ? named : named.where('status', '=', status);
  return readPage(page, async (slice) => toDomains(tx, await inSlice(wanted, 'id', slice).execute()));
}

export type SettingsChange = { id: string } & Pick<DomainRow, 'tenantId'> &
  Pick<CheckMoment, 'now' | 'spread'> & {
    change: Partial<
      Pick<DomainRow, 'trackingSubdomain' | 'openTracking' | 'clickTracking' | 'productType' | 'region'>
    >;
  };

/**
 * Changes the named settings as part of a write, and returns the domain. Equal values are not a change.
 * @throws AppError not_found
 */
export async function changeSettings(
  tx: Tx,
  { id, tenantId, change, now, spread }: SettingsChange,
): Promise<Domain> {
  const before = await getDomain(tx, tenantId, id);
  if (hasValues<Domain>(before, change)) return before;
  const { trackingSubdomain = before.trackingSubdomain, ...settings } = change;
  const state =
    trackingSubdomain === before.trackingSubdomain
      ? stateOf(before)
      : withTracking(stateOf(before), trackingSubdomain, { now, spread });
  return writeDomain(tx, { ...before, ...settings, ...state, updatedAt: now }, now);
}

type Check = Pick<DomainRow, 'id' | 'tenantId'> &
  CheckMoment & {
    verdicts: Verdicts;
    /** The task of a planned check; undefined for one on demand. */
    lease?: Lease | undefined;
  };
export type Checked = {
  domain: Domain;
  /** The recorded event when the domain has become verified or has failed. */
  event: EventType | undefined;
};

/**
 * Applies a check to the domain's current state, and plans the next one. Returns undefined when the domain was deleted in the
 * meantime.
 */
export const recordCheck = defineWrite(
  'domains.recordCheck',
  async (tx, { lease, ...check }: Check): Promise<Checked | undefined> => {
    const checked = await applyCheck(tx, check);
    if (lease) await completeTask.run(tx, lease);
    return checked;
  },
);

async function applyCheck(
  tx: Tx,
  { id, tenantId, verdicts, ...moment }: Omit<Check, 'lease'>,
): Promise<Checked | undefined> {
  const row = await liveDomains(tx, tenantId).where('id', '=', id).executeTakeFirst();
  if (!row) return undefined;
  const before = await toDomain(tx, row);
  const state = afterCheck(stateOf(before), verdicts, moment);
  const updatedAt = isChanged(before, state) ? moment.now : before.updatedAt;
  const domain = await writeDomain(tx, { ...before, ...state, updatedAt }, moment.now);
  if (moment.isAsked) await hastenLook(tx, domain, moment.now);
  return { domain, event: await recordTransition(tx, before.status, { ...domain, now: moment.now }) };
}

/** Returns true when the check changed more than its time. A record that was never looked for is as good as one that was not found. */
function isChanged(before: Domain, after: DomainState): boolean {
  const statuses = ({ status, findings: { CLIENTS = {}, ...findings } }: DomainState) =>
    JSON.stringify([
      status,
      Object.entries({ ...findings, ...CLIENTS })
        .filter(([, one]) => one && one.status !== 'pending')
        .map(([key, one]) => [key, one?.status]),
    ]);
  return statuses(before) !== statuses(after);
}

async function writeDomain(tx: Tx, domain: Domain, now: number): Promise<Domain> {
  const { id, tenantId, findings, keys: _keys, ...columns } = domain;
  await updateRows(tx, 'domains', {
    set: { ...columns, ...derivedFrom(domain), records: JSON.stringify(findings) },
    where: { tenantId, id },
  });
  const { trackingHost: host } = trackingHostOf(domain);
  if (host !== null && !(await claimTrackingHost(tx, { host, domainId: id, now }))) {
    await updateRows(tx, 'domains', {
      set: { trackingHost: null, trackingCheckedAt: null },
      where: { tenantId, id },
    });
  }
  await scheduleCheck(tx, domain);
  return domain;
}

/** Returns the columns that are derived from others, for statements that cannot afford to read the findings. */
function derivedFrom(domain: Domain): Pick<DomainRow, Derived> {
  const returnPathHost = usesReturnPath(domain) ? returnPathName(domain) : null;
  return { returnPathHost, ...trackingHostOf(domain) };
}

function stateOf(domain: Domain): DomainState {
  const { status, verifiedAt, verifiedSince, failingSince, checksSince, nextCheckAt } = domain;
  const { trackingSubdomain, findings } = domain;
  return {
    status,
    verifiedAt,
    verifiedSince,
    failingSince,
    checksSince,
    nextCheckAt,
    trackingSubdomain,
    findings,
  };
}

/** Kind of the tasks that check domains. */
export const DOMAIN_CHECKS = 'domain-checks';

/** Plans the next check of a domain, as part of a write. */
async function scheduleCheck(
  tx: Tx,
  { id: reference, tenantId, nextCheckAt: dueAt }: Pick<DomainRow, 'id' | 'tenantId' | 'nextCheckAt'>,
): Promise<void> {
  const task = { kind: DOMAIN_CHECKS, reference, queueKey: tenantId, tenantId };
  if (dueAt === null) await cancelTask(tx, task);
  else await scheduleTask(tx, { ...task, dueAt });
}

type Ending =
  | { kind: 'ended' }
  | { kind: 'in-use'; domainId: DomainRow['id']; hasScheduledMail: boolean; scheduledBroadcasts: number };

/**
 * Marks a domain as deleted. Its row and key stay for mail that was accepted before. A domain with scheduled mail, or with a
 * broadcast that is scheduled or not completely sent, stays unchanged (`in-use`).
 * @throws AppError not_found
 */
export const endDomain = defineWrite(
  'domains.end',
  async (
    tx,
    { id, tenantId, now }: { id: string; tenantId: DomainRow['tenantId']; now: number },
  ): Promise<Ending> => {
    const { id: domainId } = await getDomain(tx, tenantId, id);
    const hasScheduled = await hasScheduledMail(tx, { domainId, now });
    const scheduledBroadcasts = await countBroadcasts(tx, domainId);
    if (hasScheduled || scheduledBroadcasts > 0)
      return { kind: 'in-use', domainId, hasScheduledMail: hasScheduled, scheduledBroadcasts };
    await markEnded(tx, { id: domainId, tenantId, now });
    return { kind: 'ended' };
  },
);

/** Marks a domain as deleted, as part of a write, whatever mail it has. */
export async function markEnded(
  tx: Tx,
  { id, tenantId, now }: Pick<DomainRow, 'id' | 'tenantId'> & { now: number },
): Promise<void> {
  await tx
    .updateTable('domains')
    .set({ deletedAt: now, updatedAt: now, verifiedSince: null })
    .set({ nextCheckAt: null, returnPathHost: null, trackingHost: null })
    .where('id', '=', id)
    .execute();
  await forgetTrackingHosts(tx, id);
  const found = await findDomainKeys(tx, id);
  if (found) await changeKeys(tx, found, { keys: withoutFuture(found.keys), now });
  await scheduleCheck(tx, { id, tenantId, nextCheckAt: null });
}

/** Gives a deleted domain of a tenant that goes to another one, as part of a write. */
export async function moveEndedDomain(
  tx: Tx,
  { id, tenantId }: Pick<DomainRow, 'id' | 'tenantId'>,
): Promise<void> {
  await updateRows(tx, 'domains', { set: { tenantId }, where: { id } });
}

/** Removes the rows of deleted domains. */
export const purgeDomains = defineWrite(
  'domains.purge',
  async (tx, { ids }: { ids: readonly DomainRow['id'][] }) => {
    for (const id of ids) {
      await tx.deleteFrom('domains').where('id', '=', id).where('deletedAt', 'is not', null).execute();
      wakeAfterCommit('zone', id);
    }
  },
);

/** A domain with all its keys, the RSA key that signs among them. */
export type KeyedDomain = Pick<DomainRow, 'id' | 'tenantId' | 'name' | 'deletedAt'> & {
  keys: readonly Key[];
};

/** Returns a domain with its keys, also a deleted one. The id comes from a row. */
export async function findDomainKeys(tx: Tx, id: DomainRow['id']): Promise<KeyedDomain | undefined> {
  const row = await findColumns(tx, 'domains', {
    select: ['id', 'tenantId', 'name', 'deletedAt', 'selector', 'publicKey', 'privateKeySealed'],
    where: { id },
  });
  if (!row) return undefined;
  const { selector, publicKey, privateKeySealed, ...domain } = row;
  const own = {
    selector,
    publicKey,
    privateKeySealed,
    algorithm: 'rsa',
    state: 'signing',
    since: 0,
  } as const;
  const others = await listKeys(tx, id);
  return { ...domain, keys: [own, ...others.map(({ domainId: _id, ...key }) => key)] };
}

/** Stores other keys of a domain, as part of a write, and publishes them. `keys` has one RSA key that signs. */
export async function changeKeys(
  tx: Tx,
  { id, keys: before }: KeyedDomain,
  { keys, now }: { keys: readonly Key[]; now: number },
): Promise<void> {
  const signing = keys.find(isMainKey);
  const stored = keys.filter((key) => key !== signing);
  for (const { selector } of before.filter((key) => !isMainKey(key)))
    if (!stored.some((key) => key.selector === selector)) await removeKey(tx, { domainId: id, selector });
  for (const key of stored) if (!before.includes(key)) await putKey(tx, { domainId: id, ...key });
  if (signing && !before.includes(signing)) await replaceMainKey(tx, id, { ...signing, now });
  wakeAfterCommit('zone', id);
}

function isMainKey({ algorithm, state }: Pick<Key, 'algorithm' | 'state'>): boolean {
  return algorithm === 'rsa' && state === 'signing';
}

/** The record of the new key was seen, which its finding says from now on. */
async function replaceMainKey(
  tx: Tx,
  id: DomainRow['id'],
  { selector, publicKey, privateKeySealed, now }: Key & { now: number },
): Promise<void> {
  const before = await findDomain(tx, id);
  if (!before || privateKeySealed === null) throw new Error(`domain ${id} cannot sign with ${selector}`);
  const DKIM: Finding = { status: 'verified', lastCheckedAt: now, found: [], error: null };
  const findings = { ...before.findings, DKIM };
  await writeDomain(tx, { ...before, selector, publicKey, privateKeySealed, findings, updatedAt: now }, now);
}

function liveDomains(tx: Tx, tenantId: DomainRow['tenantId']) {
  return tx.selectFrom('domains').selectAll().where('tenantId', '=', tenantId).where('deletedAt', 'is', null);
}

async function toDomain(tx: Tx, row: DomainRow): Promise<Domain> {
  return withKeys(row, await listKeysOf(tx, [row.id]));
}

/** Returns domains with their keys. */
export async function toDomains(tx: Tx, rows: readonly DomainRow[]): Promise<Domain[]> {
  const ids = rows.map(({ id }) => id);
  const keys = await listKeysOf(tx, ids);
  return rows.map((row) => withKeys(row, keys));
}

function withKeys(
  {
    records,
    returnPathHost: _returnHost,
    trackingHost: _trackingHost,
    trackingCheckedAt: _checkedAt,
    deletedAt: _deletedAt,
    ...row
  }: DomainRow,
  keys: Awaited<ReturnType<typeof listKeysOf>>,
): Domain {
  return { ...row, findings: JSON.parse(records) as Findings, keys: keys.get(row.id) ?? [] };
}
