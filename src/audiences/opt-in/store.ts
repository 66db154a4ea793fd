/**
 * Stores the confirmation mails of each address, which a limit counts, and those that are still to be made. All SQL of
 * these tables is here, and nothing else writes them.
 */
import { sql } from 'kysely';
import type { ConfirmationRequestRow, ConfirmationRow } from '../../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, findColumns, findRow, putRow } from '../../db/rows.ts';
import { completeTask, type Lease, scheduleTask, type TaskEnd } from '../../tasks/store.ts';

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

/** SQLite assigns the next number. */
const nextId = sql<number>`NULL`;

/** Kind of the tasks that make confirmation mails. */
export const CONFIRMATIONS = 'confirmations';

type NewRequest = Omit<ConfirmationRequestRow, 'id' | 'previousSentAt'>;

/** Counts a mail against the limit of its address, and stores that it is to be made. The caller has checked the limit. */
export async function insertRequest(tx: Tx, request: NewRequest): Promise<void> {
  const { tenantId, mode, address, requestedAt } = request;
  const { count, sentAt } = await findSentConfirmations(tx, request);
  await putRow(tx, 'confirmations', { tenantId, mode, address, count: count + 1, sentAt: requestedAt });
  const { id } = await tx
    .insertInto('confirmationRequests')
    .values({ ...request, id: nextId, previousSentAt: sentAt })
    .returning('id')
    .executeTakeFirstOrThrow();
  const task = { kind: CONFIRMATIONS, reference: String(id), queueKey: tenantId, tenantId };
  await scheduleTask(tx, { ...task, dueAt: requestedAt });
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

/** Settles a request for which no mail is made, and gives the mail back to the limit of its address. */
export const dropRequest = defineWrite('confirmations.drop', async (tx, lease: Lease): Promise<TaskEnd> => {
  const request = await findRequest(tx, { id: Number(lease.reference) });
  const end = await completeTask.run(tx, lease);
  if (!request || end === 'stale') return end;
  const { tenantId, mode, address, previousSentAt } = request;
  const { count } = await findSentConfirmations(tx, request);
  await putRow(tx, 'confirmations', {
    tenantId,
    mode,
    address,
    count: Math.max(0, count - 1),
    sentAt: previousSentAt,
  });
  await deleteRequest(tx, request);
  return end;
});
