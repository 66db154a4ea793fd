/** Deletes parts of a tenant that have tasks, sessions, keys or folders, by the stores that know of them. Each function is part of a write. */
import { changeNames } from '../certificates/acme/store.ts';
import type { Tx } from '../db/operation.ts';
import { patchRun } from '../ledger/run-store.ts';
import { endMailbox } from '../mailboxes/store.ts';
import { deleteUnusedContent } from '../queue/contents/store.ts';
import { cancelTask } from '../tasks/store.ts';
import { deleteNaming, type Erased, type EraseSlice, erasedUpTo, eraseScanned } from './erase-store.ts';

type Slice = EraseSlice & { now: number };

/** Number of rows that a mailbox or a certificate counts for, with all that goes with it. */
const ROWS_PER_PART = 25;

/** Returns how many parts a slice deletes. */
export function partsIn({ rows }: Pick<EraseSlice, 'rows'>): number {
  return Math.max(1, Math.floor(rows / ROWS_PER_PART));
}

/** Cancels background work, and aborts what runs. */
export function eraseTasks(tx: Tx, slice: Slice): Promise<Erased> {
  const remove = (_tx: Tx, { kind, reference }: Record<string, unknown>) =>
    cancelTask(tx, { kind: String(kind), reference: String(reference) });
  return eraseScanned(tx, 'tasks', { ...slice, remove });
}

/** Deletes the texts that copies of broadcasts share. */
export async function eraseContents(tx: Tx, { tenantId, now, rows }: Slice): Promise<Erased> {
  const runs = await tx
    .selectFrom('broadcastRuns')
    .select(['broadcastId', 'contentId'])
    .where('contentId', 'is not', null)
    .where('broadcastId', 'in', (where) =>
      where.selectFrom('broadcasts').select('broadcasts.id').where('broadcasts.tenantId', '=', tenantId),
    )
    .limit(rows)
    .execute();
  for (const { broadcastId, contentId } of runs) {
    await patchRun(tx, broadcastId, { contentId: null, endedAt: now });
    if (contentId !== null) await deleteUnusedContent(tx, contentId);
  }
  return erasedUpTo(rows, runs.length);
}

/** Deletes mailboxes. Tasks of the installation remove their folders. */
export async function eraseMailboxes(tx: Tx, slice: Slice): Promise<Erased> {
  const { tenantId, now } = slice;
  const mailboxes = await tx
    .selectFrom('mailboxes')
    .select(['id', 'address'])
    .where('tenantId', '=', tenantId)
    .limit(partsIn(slice))
    .execute();
  for (const { id } of mailboxes) await endMailbox.run(tx, { tenantId, id, now });
  const owners = [tenantId, ...mailboxes.map(({ id }) => id)];
  await deleteNaming(tx, { table: 'unsentMail', column: 'owner', ids: owners });
  const counted = [tenantId, ...mailboxes.map(({ address }) => address)];
  await deleteNaming(tx, { table: 'recipientCounts', column: 'owner', ids: counted });
  return erasedUpTo(partsIn(slice), mailboxes.length);
}

/** Deletes the certificates of names, with their keys and their orders. */
export async function eraseCertificates(tx: Tx, slice: Slice): Promise<Erased> {
  const { tenantId, now } = slice;
  const certificates = await tx
    .selectFrom('acmeCertificates')
    .select('name')
    .where('tenantId', '=', tenantId)
    .limit(partsIn(slice))
    .execute();
  const removed = certificates.map(({ name }) => name);
  await changeNames.run(tx, { added: [], removed, moved: [], now });
  return erasedUpTo(partsIn(slice), removed.length);
}

/**
 * Deletes memberships, and with them the people who then belong to nothing. The audit log keeps what they have done. Both is one write: a person
 * who leaves another tenant in between would otherwise stay, and belong to nothing.
 */
export async function eraseMembers(tx: Tx, { tenantId, rows }: Slice): Promise<Erased> {
  const members = await tx
    .selectFrom('memberships')
    .select('personId')
    .where('tenantId', '=', tenantId)
    .limit(rows)
    .execute();
  const ids = members.map(({ personId }) => personId);
  if (ids.length === 0) return erasedUpTo(rows, 0);
  await deleteNaming(tx, { table: 'memberships', column: 'personId', ids, tenantId });
  const unattached = await tx
    .selectFrom('people')
    .select('id')
    .where('id', 'in', ids)
    .where('isOperator', '=', 0)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('memberships')
            .select('memberships.tenantId')
            .whereRef('memberships.personId', '=', 'people.id'),
        ),
      ),
    )
    .execute();
  await deleteNaming(tx, { table: 'people', column: 'id', ids: unattached.map(({ id }) => id) });
  return erasedUpTo(rows, ids.length);
}
