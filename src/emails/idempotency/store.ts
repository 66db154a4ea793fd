/** What requests with an Idempotency-Key were answered: all SQL, and the only writer of the table. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { IdempotencyRow } from '../../db/tables.ts';
import { idempotencyConflict } from '../idempotency.ts';

export type IdempotencyClaim = { key: string; requestHash: string; expiresAt: number };

export type Accepted = { id: string; status: 'queued'; replayed: boolean };

const byKey = statement((db, param: Param<Pick<IdempotencyRow, 'tenantId' | 'mode' | 'key'>>) =>
  db
    .selectFrom('idempotency')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('mode', '=', param('mode'))
    .where('key', '=', param('key')),
);

export type ReplayQuery = Pick<IdempotencyRow, 'tenantId' | 'mode' | 'key' | 'requestHash'> & { now: number };

/** @throws AppError idempotency_conflict when the key belongs to another request */
export async function findReplay(tx: Tx, query: ReplayQuery): Promise<Accepted | undefined> {
  const row = await byKey.first(tx, query);
  if (!row || row.expiresAt <= query.now) return undefined;
  if (row.requestHash !== query.requestHash) throw idempotencyConflict();
  return { ...(JSON.parse(row.response) as Omit<Accepted, 'replayed'>), replayed: true };
}

const upsertResponse = statement((db, param: Param<IdempotencyRow>) =>
  db
    .insertInto('idempotency')
    .values({
      tenantId: param('tenantId'),
      mode: param('mode'),
      key: param('key'),
      requestHash: param('requestHash'),
      response: param('response'),
      expiresAt: param('expiresAt'),
    })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'mode', 'key']).doUpdateSet((set) => ({
        requestHash: set.ref('excluded.requestHash'),
        response: set.ref('excluded.response'),
        expiresAt: set.ref('excluded.expiresAt'),
      })),
    ),
);

/** Part of the write that accepts. */
export async function recordResponse(tx: Tx, row: IdempotencyRow): Promise<void> {
  await upsertResponse.all(tx, row);
}

const SWEEP_ROWS = 1_000;

/** Removes records past their window; answers how many. */
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
);
