/**
 * Stores on which days mail to an address bounced in a way that makes a bad address likely. All SQL of this table is here, and nothing
 * else writes it.
 */

import type { ExpirySlice } from '../db/expiry.ts';
import type { BounceEvidenceRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { deleteRows, insertRow, listRows } from '../db/rows.ts';
import { addressKey } from '../mail/address.ts';
import { DAY_MS } from '../system/clock.ts';

/** Number of distinct days, in UTC, that make the address bad. */
const MIN_EVIDENCE_DAYS = 2;
/** Time within which the days must lie, in days. */
export const EVIDENCE_WINDOW_DAYS = 30;

type Evidence = Omit<BounceEvidenceRow, 'day'>;
type ByAddress = Pick<BounceEvidenceRow, 'tenantId' | 'address'>;

/**
 * Stores a bounce, as part of a write. `wasCleared` is asked whether a delivery has succeeded since the given time. Returns true when
 * the bounces lie on enough distinct days.
 */
export async function recordEvidence(
  tx: Tx,
  evidence: Evidence,
  wasCleared: (since: number) => Promise<boolean>,
): Promise<boolean> {
  const address = addressKey(evidence.address);
  const day = dayOf(evidence.at);
  const { tenantId } = evidence;
  const earlier = await listEvidence(tx, { tenantId, address });
  const latest = earlier.at(-1);
  const isCleared = latest !== undefined && (await wasCleared(latest.at));
  const kept = isCleared
    ? []
    : earlier.filter((row) => row.day >= day - EVIDENCE_WINDOW_DAYS).slice(-MIN_EVIDENCE_DAYS);
  for (const row of earlier) if (!kept.includes(row)) await deleteDay(tx, row);
  if (kept.some((row) => row.day === day)) return kept.length >= MIN_EVIDENCE_DAYS;
  await insertRow(tx, 'bounceEvidence', { ...evidence, address, day });
  return kept.length + 1 >= MIN_EVIDENCE_DAYS;
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** Returns what is known about an address, the oldest first. `address` is in lower case. */
function listEvidence(tx: Tx, { tenantId, address }: ByAddress): Promise<BounceEvidenceRow[]> {
  return listRows(tx, 'bounceEvidence', { where: { tenantId, address }, orderBy: 'day' });
}

/** Returns true when enough bounces of an address are stored to suppress it. `address` is in lower case. */
export async function hasEvidence(tx: Tx, of: ByAddress): Promise<boolean> {
  return (await listEvidence(tx, of)).length >= MIN_EVIDENCE_DAYS;
}

async function deleteDay(tx: Tx, { tenantId, address, day }: BounceEvidenceRow): Promise<void> {
  await deleteRows(tx, 'bounceEvidence', { tenantId, address, day });
}

/** Forgets what is known about an address, as part of the write that lifts its suppression. `address` is in lower case. */
export async function forgetEvidence(tx: Tx, { tenantId, address }: ByAddress): Promise<void> {
  await deleteRows(tx, 'bounceEvidence', { tenantId, address });
}

/** Deletes at most `rows` of the oldest evidence from before a time, in Unix milliseconds. Returns their number and whether more is left. */
export const expireEvidence = defineWrite(
  'suppressions.expireEvidence',
  async (tx, { before, rows }: { before: number; rows: number }): Promise<ExpirySlice> => {
    const old = await tx
      .selectFrom('bounceEvidence')
      .selectAll()
      .where('at', '<', before)
      .orderBy('at')
      .limit(rows)
      .execute();
    for (const row of old) await deleteDay(tx, row);
    return { deleted: old.length, next: old.length === rows ? 'more' : undefined };
  },
  { priority: 'bulk' },
);
