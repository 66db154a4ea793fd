/** Stores accounts with authorities, certificates and orders. All SQL of these tables is here, and nothing else writes them. */
import { wakeAfterCommit } from '../../db/commit-wakeups.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { AcmeAccountRow, AcmeCertificateRow } from '../../db/own-tables.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../../db/rows.ts';
import { notFound } from '../../system/errors.ts';
import { cancelTask, type Lease, retryTask, scheduleTask, type TaskEnd } from '../../tasks/store.ts';
import { type DailyLimits, findFreeAt } from './daily-limits.ts';

/** Kind of the tasks that order certificates. Their references are names. */
export const CERTIFICATE_ORDERS = 'certificate-orders';
/** Queue of the names of the operator, which have no tenant. */
const OPERATOR_QUEUE = 'operator';

/** Returns the account with an authority; undefined when there is none. */
export function findAccount(tx: Tx, directory: string): Promise<AcmeAccountRow | undefined> {
  return findRow(tx, 'acmeAccounts', { directory });
}

/** Stores the key of a new account unless there is one, and returns the account that is stored. */
export const insertAccount = defineWrite(
  'certificates.insertAccount',
  async (tx, account: AcmeAccountRow): Promise<AcmeAccountRow> => {
    const existing = await findAccount(tx, account.directory);
    if (existing) return existing;
    await insertRow(tx, 'acmeAccounts', account);
    return account;
  },
);

type Registration = Pick<AcmeAccountRow, 'directory' | 'url' | 'issuer'>;

/** Stores what the authority answered to a new account; null when it no longer knows the account. */
export const setAccountUrl = defineWrite(
  'certificates.setAccountUrl',
  async (tx, { directory, ...set }: Registration): Promise<void> => {
    await updateRows(tx, 'acmeAccounts', { set, where: { directory } });
  },
);

/**
 * Removes the account with an authority. The next order makes another one, and orders of the operator's names that have failed are due now.
 * @throws AppError not_found
 */
export const removeAccount = defineWrite(
  'certificates.removeAccount',
  async (tx, { directory, now }: { directory: string; now: number }): Promise<void> => {
    if (!(await findAccount(tx, directory))) throw notFound('Account');
    await deleteRows(tx, 'acmeAccounts', { directory });
    // Only the account that has begun an order may go on with it.
    await updateRows(tx, 'acmeCertificates', { set: { orderUrl: null }, where: { directory } });
    for (const { name, tenantId, failures } of await listOperatorCertificates(tx)) {
      if (failures === 0) continue;
      await updateRows(tx, 'acmeCertificates', { set: { failures: 0 }, where: { name } });
      await scheduleOrder(tx, { name, tenantId }, now);
    }
  },
);

/** Returns the certificate of a name, or what has become of its order. */
export function findCertificate(tx: Tx, name: string): Promise<AcmeCertificateRow | undefined> {
  return findRow(tx, 'acmeCertificates', { name });
}

/** Returns the certificates of the operator's names. */
export function listOperatorCertificates(tx: Tx): Promise<AcmeCertificateRow[]> {
  return tx
    .selectFrom('acmeCertificates')
    .selectAll()
    .where('tenantId', 'is', null)
    .orderBy('name')
    .execute();
}

/** A name as it stands in the list: who it belongs to, and with which authority its order is made. */
type KnownName = Pick<AcmeCertificateRow, 'name' | 'tenantId' | 'directory'>;

/** Returns all names that certificates are kept for. */
export function listKnownNames(tx: Tx): Promise<KnownName[]> {
  return tx.selectFrom('acmeCertificates').select(['name', 'tenantId', 'directory']).execute();
}

type NewName = KnownName &
  Pick<AcmeCertificateRow, 'privateKeySealed'> & {
    /** Time of the first attempt in Unix milliseconds; at once unless it is given. */
    dueAt?: number;
  };
type NameChanges = {
  added: readonly NewName[];
  removed: readonly string[];
  /** Names whose certificates another authority is to issue from now on. */
  moved: readonly KnownName[];
  now: number;
};

/** Adds names with their orders, and removes others with their certificates and keys. */
export const changeNames = defineWrite(
  'certificates.changeNames',
  async (tx, { added, removed, moved, now }: NameChanges): Promise<void> => {
    for (const name of removed) {
      await deleteRows(tx, 'acmeCertificates', { name });
      await cancelTask(tx, { kind: CERTIFICATE_ORDERS, reference: name });
      wakeAfterCommit('certificates', name);
    }
    for (const { dueAt = now, ...one } of added) {
      await insertRow(tx, 'acmeCertificates', { ...one, failures: 0, createdAt: now });
      await scheduleOrder(tx, one, dueAt);
      // The list of certificates shows a name before its first attempt.
      wakeAfterCommit('certificates', one.name);
    }
    for (const { name, tenantId, directory } of moved) {
      const set = { directory, orderUrl: null, renewAt: now, failures: 0 };
      await updateRows(tx, 'acmeCertificates', { set, where: { name } });
      await scheduleOrder(tx, { name, tenantId }, now);
    }
  },
);

async function scheduleOrder(
  tx: Tx,
  { name, tenantId }: Pick<AcmeCertificateRow, 'name' | 'tenantId'>,
  dueAt: number,
): Promise<void> {
  const queueKey = tenantId ?? OPERATOR_QUEUE;
  await scheduleTask(tx, { kind: CERTIFICATE_ORDERS, reference: name, queueKey, tenantId, dueAt });
}

type Renewal = { name: string; nextKeySealed: string | null; now: number };

/**
 * Makes the renewal of a certificate due now, with another key when one is given.
 * @throws AppError not_found
 */
export const renewNow = defineWrite(
  'certificates.renewNow',
  async (tx, { name, nextKeySealed, now }: Renewal): Promise<Pick<AcmeCertificateRow, 'tenantId'>> => {
    const row = await findCertificate(tx, name);
    if (!row) throw notFound('Certificate by ACME');
    // An order that was begun is for the earlier key only once its request has been sent, and a new order costs little.
    const set = {
      renewAt: now,
      failures: 0,
      ...(nextKeySealed !== null && { nextKeySealed, orderUrl: null }),
    };
    await updateRows(tx, 'acmeCertificates', { set, where: { name } });
    await scheduleOrder(tx, row, now);
    return { tenantId: row.tenantId };
  },
);

/** Stores the key that the next certificate of a name gets. */
export const setNextKey = defineWrite(
  'certificates.setNextKey',
  async (tx, { name, nextKeySealed }: Pick<AcmeCertificateRow, 'name' | 'nextKeySealed'>): Promise<void> => {
    await updateRows(tx, 'acmeCertificates', { set: { nextKeySealed }, where: { name } });
  },
);

/** Stores the URL of an order that has begun. */
export const keepOrderUrl = defineWrite(
  'certificates.keepOrderUrl',
  async (tx, { name, orderUrl }: Pick<AcmeCertificateRow, 'name' | 'orderUrl'>): Promise<void> => {
    await updateRows(tx, 'acmeCertificates', { set: { orderUrl }, where: { name } });
  },
  { crashPoints: { afterCommit: 'certificate-order-begun' } },
);

type OrderCount = { name: string; tenantId: `ten_${string}`; limits: DailyLimits; now: number };

/**
 * Counts an order for a name of a tenant. Returns undefined when it may be made; otherwise the time at which the first of
 * the orders that use up a limit no longer counts.
 */
export const countOrder = defineWrite(
  'certificates.countOrder',
  async (tx, { name, tenantId, limits, now }: OrderCount): Promise<number | undefined> => {
    const orders = await tx.selectFrom('acmeOrders').select(['at', 'tenantId']).orderBy('at').execute();
    const freeAt = findFreeAt(orders, { tenantId, limits, now });
    if (freeAt !== undefined) return freeAt;
    await tx
      .deleteFrom('acmeOrders')
      .where('at', '<=', now - limits.periodMs)
      .execute();
    await insertRow(tx, 'acmeOrders', { at: now, name, tenantId });
    return undefined;
  },
);

type Settlement = {
  lease: Lease;
  /** Columns that the attempt has changed. */
  set: Partial<AcmeCertificateRow>;
  /** Time of the next attempt, in Unix milliseconds. */
  dueAt: number;
};

/** Stores what has become of an attempt, and plans the next one. A name that was removed meanwhile stays removed. */
export const settleOrder = defineWrite(
  'certificates.settleOrder',
  async (tx, { lease, set, dueAt }: Settlement): Promise<TaskEnd> => {
    const end = await retryTask.run(tx, { lease, dueAt, attempts: 0 });
    if (end === 'stale') return end;
    await updateRows(tx, 'acmeCertificates', { set, where: { name: lease.reference } });
    wakeAfterCommit('certificates', lease.reference);
    return end;
  },
  {
    crashPoints: {
      beforeCommit: 'certificate-settle-before-commit',
      afterCommit: 'certificate-settle-after-commit',
    },
  },
);
