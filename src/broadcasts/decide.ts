/** Approves and declines broadcasts for a person, or for a key that requires no approval itself. */
import type { App } from '../app.ts';
import type { Decision } from '../approvals/decision-api.ts';
import { changedSince } from '../approvals/store.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import { type Deciding, storeDecision } from './approval/decide.ts';
import { readContentHash } from './read-bound.ts';
import { getBroadcast, type Owner } from './store.ts';

/**
 * Approves or declines a broadcast, and returns its approval.
 * @throws AppError not_found; invalid_state when it does not wait for approval, or is another than was read
 */
export async function decideBroadcast(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { tenantId, mode, domainId }: Owner,
  { id, reason = null, ...decision }: Decision & { id: string; decision: Deciding['decision'] },
): Promise<ApprovalRow> {
  const owner = { tenantId, mode, domainId };
  for (;;) {
    const read = await getBroadcast(db.read, owner, id);
    const contentHash = await readContentHash(db.read, read);
    const { updatedAt } = read;
    const given = { owner, ...decision, reason, read: { id: read.id, updatedAt }, contentHash };
    const decided = await db.commit(storeDecision, { ...given, now: clock.now() });
    if (decided === 'changed') continue;
    if (decided === 'asks-again') throw changedSince();
    return decided;
  }
}
