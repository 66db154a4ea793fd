/**
 * Stores the answers of requests with an Idempotency-Key. All SQL of this table is here, and nothing else writes it.
 */

import type { IdempotencyRow } from '../../db/email-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { findRow, putRow } from '../../db/rows.ts';
import { idempotencyConflict } from './key.ts';

export type IdempotencyClaim = { key: string; requestHash: string; expiresAt: number };

/** `replayed` is true when the answer is that of an earlier request with the same key. */
export type Answer<Response> = { response: Response; replayed: boolean };

export type IdempotencyOwner = Pick<IdempotencyRow, 'tenantId' | 'mode'> & { now: number };

/**
 * Returns the recorded answer for the key; undefined when there is none within the last 24 hours.
 * @throws AppError idempotency_conflict when the key belongs to another request
 */
export async function findReplay<Response>(
  tx: Tx,
  { tenantId, mode, now }: IdempotencyOwner,
  { key, requestHash }: IdempotencyClaim,
): Promise<Answer<Response> | undefined> {
  const row = await findRow(tx, 'idempotency', { tenantId, mode, key });
  if (!row || row.expiresAt <= now) return undefined;
  if (row.requestHash !== requestHash) throw idempotencyConflict();
  return { response: JSON.parse(row.response) as Response, replayed: true };
}

/**
 * Returns the recorded answer, or runs `accept` and records its answer in the same write. A second request with the
 * key therefore finds everything or nothing.
 * @throws AppError idempotency_conflict
 */
export async function acceptOnce<Response>(
  tx: Tx,
  { owner, claim }: { owner: IdempotencyOwner; claim: IdempotencyClaim | undefined },
  accept: () => Promise<Response>,
): Promise<Answer<Response>> {
  if (!claim) return { response: await accept(), replayed: false };
  const replay = await findReplay<Response>(tx, owner, claim);
  if (replay) return replay;
  const response = await accept();
  const { tenantId, mode } = owner;
  await putRow(tx, 'idempotency', { tenantId, mode, ...claim, response: JSON.stringify(response) });
  return { response, replayed: false };
}

const SWEEP_ROWS = 1_000;

/** Removes up to `SWEEP_ROWS` expired records. Returns the number of removed records. */
export const sweepIdempotency = defineWrite(
  'emails.sweepIdempotency',
  async (tx, { now }: { now: number }) => {
    const { numDeletedRows } = await tx
      .deleteFrom('idempotency')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('tenantId', 'mode', 'key'),
          'in',
          selectFrom('idempotency')
            .select(['tenantId', 'mode', 'key'])
            .where('expiresAt', '<=', now)
            .orderBy('expiresAt')
            .limit(SWEEP_ROWS)
            .$asTuple('tenantId', 'mode', 'key'),
        ),
      )
      .executeTakeFirst();
    return Number(numDeletedRows);
  },
  { priority: 'bulk' },
);
