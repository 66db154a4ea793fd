/**
 * Stores broadcasts. All SQL of this table is here, and nothing else writes it. A broadcast belongs to the mode of
 * the key that created it.
 */

import { sql } from 'kysely';
import { findApproval, withdrawApproval } from '../approvals/store.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { BroadcastCountsRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { deleteRows, insertRow } from '../db/rows.ts';
import { isIdWithin } from '../domains/reach.ts';
import { deleteRun, findRun, putPlan, type RunPlan } from '../ledger/run-store.ts';
import { findCounts } from '../ledger/store.ts';
import { AppError, notFound } from '../system/errors.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { askAfterChange } from './ask.ts';

/** A caller, who sees the broadcasts of its mode; with a key of one domain, those that are sent from there. */
export type Owner = Pick<BroadcastRow, 'tenantId' | 'mode'> & Reach;

/** The approval that a change of a broadcast asks for (ask.ts). */
type Asking = {
  contentHash: string;
  /** The key that makes the change, when it requires approval. */
  askedBy: ApprovalRow['keyId'] | null;
};

/**
 * Stores a new broadcast with its plan.
 * @throws AppError quota_exceeded when too many wait for approval
 */
export const insertBroadcast = defineWrite(
  'broadcasts.insert',
  async (tx, { broadcast, plan, ...asking }: { broadcast: BroadcastRow; plan: RunPlan } & Asking) => {
    await insertRow(tx, 'broadcasts', broadcast);
    await putPlan(tx, plan);
    const changed = { statusBefore: 'draft', now: broadcast.updatedAt } as const;
    await askAfterChange(tx, { broadcast, run: plan, ...asking, ...changed });
  },
);

/**
 * Returns a broadcast.
 * @throws AppError not_found, also for a broadcast of another tenant or mode, or beyond the reach of the key
 */
export async function getBroadcast(tx: Tx, owner: Owner, id: string): Promise<BroadcastRow> {
  return broadcastsWithin(tx, owner)
    .selectAll()
    .where('id', '=', id as BroadcastRow['id'])
    .executeTakeFirstOrThrow(() => notFound('Broadcast'));
}

type BroadcastList = PageRequest & {
  status?: BroadcastRow['status'] | undefined;
  audienceId?: string | undefined;
};

/** A broadcast without its texts. */
export type Listed = Omit<BroadcastRow, 'html' | 'text'>;
const LISTED = [
  'id',
  'tenantId',
  'mode',
  'status',
  'audienceId',
  'segmentId',
  'fromHeader',
  'subject',
  'replyTo',
  'topicId',
  'templateId',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof Listed)[];

/** Returns a page of broadcasts, newest first. They have no bodies, because a page with bodies may have 200 MB. */
export function listBroadcasts(
  tx: Tx,
  owner: Owner,
  { status, audienceId, ...page }: BroadcastList,
): Promise<Page<Listed>> {
  const all = broadcastsWithin(tx, owner).select(LISTED);
  const ofAudience =
    audienceId === undefined ? all : all.where('audienceId', '=', audienceId as BroadcastRow['audienceId']);
  const wanted = status === undefined ? ofAudience : ofAudience.where('status', '=', status);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

function broadcastsWithin(tx: Tx, owner: Owner) {
  const all = tx
    .selectFrom('broadcasts')
    .where('tenantId', '=', owner.tenantId)
    .where('mode', '=', owner.mode);
  // The run of a broadcast holds the domain that it is sent from.
  return owner.domainId === null
    ? all
    : all.where((where) =>
        where.exists(
          where
            .selectFrom('broadcastRuns')
            .select('broadcastId')
            .whereRef('broadcastId', '=', 'broadcasts.id')
            .where(isIdWithin(owner, 'domainId')),
        ),
      );
}

type NewestList = { tenantId: BroadcastRow['tenantId'] | undefined } & Pick<
  BroadcastList,
  'status' | 'limit' | 'startingAfter'
>;

/** Returns broadcasts of both modes, the newest first, of one tenant or of all, without their bodies. Only the operator may see them. */
export function listNewestBroadcasts(
  tx: Tx,
  { tenantId, status, ...part }: NewestList,
): Promise<Page<Listed>> {
  const all = tx.selectFrom('broadcasts').select(LISTED);
  const ofTenant = tenantId === undefined ? all : all.where('tenantId', '=', tenantId);
  const wanted = status === undefined ? ofTenant : ofTenant.where('status', '=', status);
  return readPage(part, (slice) => inSlice(wanted, 'id', slice).execute());
}

/** Returns a broadcast without its texts. The id comes from a row or from the operator, never from a caller of the API. */
export function findListed(tx: Tx, id: BroadcastRow['id']): Promise<Listed | undefined> {
  return tx.selectFrom('broadcasts').select(LISTED).where('id', '=', id).executeTakeFirst();
}

/**
 * The run of a broadcast, null before it is scheduled or started, its counts, null before it starts, and its approval, null when it has
 * never asked for one.
 */
type Progress = {
  run: BroadcastRunRow | null;
  counts: BroadcastCountsRow | null;
  approval: ApprovalRow | null;
};

/** Returns a broadcast with its progress. */
export async function withProgress<Row extends Pick<BroadcastRow, 'id'>>(
  tx: Tx,
  broadcast: Row,
): Promise<Row & Progress> {
  const { id } = broadcast;
  const [run, counts] = [await findRun(tx, id), await findCounts(tx, id)];
  const approval = (await findApproval(tx, id)) ?? null;
  return { ...broadcast, run: run ?? null, counts: counts ?? null, approval };
}

/** Changes the status of a broadcast, as part of a write. `runs/state.ts` alone calls it. */
export async function setStatus(
  tx: Tx,
  id: BroadcastRow['id'],
  { status, now }: Pick<BroadcastRow, 'status'> & { now: number },
): Promise<void> {
  const updatedAt = laterThanBefore(now);
  await tx.updateTable('broadcasts').set({ status, updatedAt }).where('id', '=', id).execute();
}

/** Moves the time of the last change of a broadcast, as part of the write of a change of its run. */
export async function touchBroadcast(tx: Tx, id: BroadcastRow['id'], now: number): Promise<void> {
  const updatedAt = laterThanBefore(now);
  await tx.updateTable('broadcasts').set({ updatedAt }).where('id', '=', id).execute();
}

/** Returns the time of a change. It increases even when the clock does not, because it also identifies the version of a row. */
function laterThanBefore(now: number) {
  return sql<number>`max(${now}, "updatedAt" + 1)`;
}

type Replacing = Asking & {
  /** The broadcast that the caller has seen. */
  before: BroadcastRow;
  after: BroadcastRow;
  plan: RunPlan;
};

/**
 * Replaces a broadcast that has not started, and its plan. Returns false when it is no longer as the caller has seen it: it
 * was changed, started or deleted meanwhile.
 * @throws AppError quota_exceeded when too many wait for approval
 */
export const replaceBroadcast = defineWrite(
  'broadcasts.replace',
  async (tx, { before, after, plan, ...asking }: Replacing): Promise<boolean> => {
    const { id, tenantId, mode, createdAt: _, ...columns } = after;
    const replaced = await tx
      .updateTable('broadcasts')
      .set(columns)
      .where('tenantId', '=', tenantId)
      .where('mode', '=', mode)
      .where('id', '=', id)
      .where('updatedAt', '=', before.updatedAt)
      .returning('id')
      .executeTakeFirst();
    if (!replaced) return false;
    await putPlan(tx, plan);
    const changed = { statusBefore: before.status, now: after.updatedAt };
    await askAfterChange(tx, { broadcast: after, run: plan, ...asking, ...changed });
    return true;
  },
);

/**
 * Deletes a broadcast that was never started. A scheduled one is not sent.
 * @throws AppError not_found, invalid_state
 */
export const deleteBroadcast = defineWrite(
  'broadcasts.delete',
  async (tx, { owner, id, now }: { owner: Owner; id: string; now: number }) => {
    const broadcast = await getBroadcast(tx, owner, id);
    if (!['draft', 'scheduled', 'failed'].includes(broadcast.status))
      throw new AppError(
        'invalid_state',
        `The broadcast is ${broadcast.status}; only one that was never started can be deleted`,
      );
    await withdrawApproval(tx, broadcast.id, now);
    await deleteRun(tx, broadcast.id);
    await deleteRows(tx, 'broadcasts', { id: broadcast.id });
  },
);
