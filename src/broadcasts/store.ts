/**
 * Stores broadcasts. All SQL of this table is here, and nothing else writes it. A broadcast belongs to the mode of
 * the key that created it.
 */

import { sql } from 'kysely';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { AppError, notFound } from '../system/errors.ts';

export type Owner = Pick<BroadcastRow, 'tenantId' | 'mode'>;

/** Stores a new broadcast. */
export const insertBroadcast = defineWrite('broadcasts.insert', async (tx, broadcast: BroadcastRow) => {
  await tx.insertInto('broadcasts').values(broadcast).execute();
});

/**
 * Returns a broadcast.
 * @throws AppError not_found, also for a broadcast of another tenant or mode
 */
export async function getBroadcast(tx: Tx, owner: Owner, id: string): Promise<BroadcastRow> {
  const broadcast = await tx
    .selectFrom('broadcasts')
    .selectAll()
    .where('tenantId', '=', owner.tenantId)
    .where('mode', '=', owner.mode)
    .where('id', '=', id as BroadcastRow['id'])
    .executeTakeFirst();
  if (!broadcast) throw notFound('Broadcast');
  return broadcast;
}

type BroadcastList = PageRequest & {
  status?: BroadcastRow['status'] | undefined;
  audienceId?: string | undefined;
};

/** A broadcast without its texts. */
type Listed = Omit<BroadcastRow, 'html' | 'text'>;

/** Returns a page of broadcasts, newest first. They have no bodies, because a page with bodies may have 200 MB. */
export function listBroadcasts(
  tx: Tx,
  owner: Owner,
  { status, audienceId, ...page }: BroadcastList,
): Promise<Page<Listed>> {
  const all = tx
    .selectFrom('broadcasts')
    .select(['id', 'tenantId', 'mode', 'status', 'audienceId', 'segmentId', 'fromHeader', 'subject'])
    .select(['replyTo', 'topicId', 'templateId', 'createdAt', 'updatedAt'])
    .where('tenantId', '=', owner.tenantId)
    .where('mode', '=', owner.mode);
  const ofAudience =
    audienceId === undefined ? all : all.where('audienceId', '=', audienceId as BroadcastRow['audienceId']);
  const wanted = status === undefined ? ofAudience : ofAudience.where('status', '=', status);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

/** Changes the status of a broadcast, as part of a write. `runs/state.ts` alone calls it. */
export async function setStatus(
  tx: Tx,
  id: BroadcastRow['id'],
  { status, now }: Pick<BroadcastRow, 'status'> & { now: number },
): Promise<void> {
  await tx
    .updateTable('broadcasts')
    .set({ status, updatedAt: sql<number>`max(${now}, "updatedAt" + 1)` })
    .where('id', '=', id)
    .execute();
}

/** Replaces a broadcast. Returns false when it was changed after `updatedBefore`, or deleted. */
export const replaceBroadcast = defineWrite(
  'broadcasts.replace',
  async (tx, { after, updatedBefore }: { after: BroadcastRow; updatedBefore: number }): Promise<boolean> => {
    const { id, tenantId, mode, createdAt: _, ...columns } = after;
    const replaced = await tx
      .updateTable('broadcasts')
      .set(columns)
      .where('tenantId', '=', tenantId)
      .where('mode', '=', mode)
      .where('id', '=', id)
      .where('updatedAt', '=', updatedBefore)
      .returning('id')
      .executeTakeFirst();
    return replaced !== undefined;
  },
);

/**
 * Deletes a broadcast.
 * @throws AppError not_found; invalid_state unless it is a draft
 */
export const deleteBroadcast = defineWrite(
  'broadcasts.delete',
  async (tx, { owner, id }: { owner: Owner; id: string }) => {
    const broadcast = await getBroadcast(tx, owner, id);
    if (broadcast.status !== 'draft')
      throw new AppError(
        'invalid_state',
        `The broadcast is ${broadcast.status}; only a draft can be deleted`,
      );
    await tx.deleteFrom('broadcasts').where('id', '=', broadcast.id).execute();
  },
);
