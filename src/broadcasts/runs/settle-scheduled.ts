/** The write that ends the wait of a scheduled broadcast which is not started: it is late, or it cannot be sent. */
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { findListed } from '../store.ts';
import { changeStatus } from './state.ts';

export type Settling = Pick<BroadcastRow, 'id' | 'updatedAt'> & {
  /** Reason why the broadcast cannot start; undefined when it is late. */
  failure: string | undefined;
  now: number;
};

/** Pauses a scheduled broadcast that is late, or marks it as failed, unless it was changed since it was read. */
export const settleScheduled = defineWrite(
  'broadcasts.settleScheduled',
  async (tx, { id, updatedAt, failure, now }: Settling): Promise<BroadcastRow['status'] | undefined> => {
    const broadcast = await findListed(tx, id);
    if (broadcast?.status !== 'scheduled' || broadcast.updatedAt !== updatedAt) return undefined;
    const change =
      failure === undefined ? { cause: 'delayed' as const } : { cause: 'failed' as const, failure };
    await changeStatus(tx, broadcast, { ...change, now });
    return failure === undefined ? 'paused' : 'failed';
  },
);
