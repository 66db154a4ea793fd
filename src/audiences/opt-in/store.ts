/**
 * Stores the confirmation mails of each address, which a limit counts, and those that are still to be made. All SQL of
 * these tables is here, and nothing else writes them.
 */

import { sql } from 'kysely';
import type { ConfirmationRequestRow, ConfirmationRow } from '../../db/confirmation-tables.ts';
import type { SetBack } from '../../db/due-times.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, findColumns, findRow, insertRow, putRow, updateRows } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';

type ByAddress = Pick<ConfirmationRow, 'tenantId' | 'mode' | 'address'>;

/** Returns how many confirmation mails an address was sent, and the time of the latest. */
export async function findSentConfirmations(
  tx: Tx,
  key: ByAddress,
): Promise<Pick<ConfirmationRow, 'count' | 'sentAt'>> {
  return (
    (await findColumns(tx, 'confirmations', {
      select: ['count', 'sentAt'],
      where: { tenantId: key.tenantId, mode: key.mode, address: key.address },
    })) ?? { count: 0, sentAt: null }
  );
}

type NewRequest = Omit<ConfirmationRequestRow, 'id' | 'previousSentAt' | 'dueAt'>;

/** Counts a mail against the limit of its address, and stores that it is to be made. The caller has checked the limit. */
export async function insertRequest(tx: Tx, request: NewRequest): Promise<void> {
  const { tenantId, mode, address, requestedAt } = request;
  const { count, sentAt } = await findSentConfirmations(tx, request);
  await putRow(tx, 'confirmations', { tenantId, mode, address, count: count + 1, sentAt: requestedAt });
  await insertRow(tx, 'confirmationRequests', {
    ...request,
    previousSentAt: sentAt,
    dueAt: requestedAt,
  });
}

type ById = Pick<ConfirmationRequestRow, 'id'>;

/** Returns a request, or undefined when its mail was made or dropped. */
export function findRequest(tx: Tx, { id }: ById): Promise<ConfirmationRequestRow | undefined> {
  return findRow(tx, 'confirmationRequests', { id });
}

/** Removes a request whose mail is made. */
export async function deleteRequest(tx: Tx, { id }: ById): Promise<void> {
  await deleteRows(tx, 'confirmationRequests', { id });
}

/** Removes a request for which no mail is made, and gives the mail back to the limit of its address. */
export const dropRequest = defineWrite('confirmations.drop', async (tx, { id }: ById): Promise<void> => {
  const request = await findRequest(tx, { id });
  if (!request) return;
  const { tenantId, mode, address, previousSentAt } = request;
  const { count } = await findSentConfirmations(tx, request);
  await putRow(tx, 'confirmations', {
    tenantId,
    mode,
    address,
    count: Math.max(0, count - 1),
    sentAt: previousSentAt,
  });
  await deleteRequest(tx, { id });
});

/** Sets the time of the next try of a request, in Unix milliseconds. */
export const postponeRequest = defineWrite(
  'confirmations.postpone',
  async (tx, { id, dueAt }: Pick<ConfirmationRequestRow, 'id' | 'dueAt'>): Promise<void> => {
    await updateRows(tx, 'confirmationRequests', { set: { dueAt }, where: { id } });
  },
);

/** Makes postponed requests due again when the wall clock was set back. */
export const moveDueRequests = defineWrite('confirmations.moveDue', async (tx, { now }: SetBack) => {
  await tx.updateTable('confirmationRequests').set({ dueAt: now }).where('dueAt', '>', now).execute();
});

type TenantId = ConfirmationRequestRow['tenantId'];

const nextTenant = statement((db, param: Param<{ after: TenantId | '' }>) =>
  db
    .selectFrom('confirmationRequests')
    .select(['tenantId', 'dueAt'])
    .where('tenantId', '>', constant(param('after') as TenantId))
    .orderBy('tenantId')
    .orderBy('dueAt')
    .limit(sql.lit(1)),
);

/** Maximum number of tenants that one look at the due requests returns. Our own limit. */
const MAX_TENANTS = 1_000;

/** Returns the tenants with requests, in the order of their ids, each with the earliest due time of its requests. */
export async function listRequestingTenants(
  tx: Tx,
): Promise<Pick<ConfirmationRequestRow, 'tenantId' | 'dueAt'>[]> {
  const tenants: Pick<ConfirmationRequestRow, 'tenantId' | 'dueAt'>[] = [];
  while (tenants.length < MAX_TENANTS) {
    const next = await nextTenant.first(tx, { after: tenants.at(-1)?.tenantId ?? '' });
    if (!next) break;
    tenants.push(next);
  }
  return tenants;
}

const dueOfTenant = statement((db, param: Param<{ tenantId: TenantId; now: number; limit: number }>) =>
  db
    .selectFrom('confirmationRequests')
    .selectAll()
    .where('tenantId', '=', constant(param('tenantId')))
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(constant(param('limit'))),
);

/** Returns due requests of a tenant, those that wait longest first. */
export function listDueRequests(
  tx: Tx,
  due: { tenantId: TenantId; now: number; limit: number },
): Promise<ConfirmationRequestRow[]> {
  return dueOfTenant.all(tx, due);
}
