/** Stores a forwarded message and ends its task in one transaction, so that no crash forwards it twice or never. */
import { defineWrite } from '../../db/operation.ts';
import { enqueue } from '../../queue/store.ts';
import { type Settlement, settleLeased } from '../tasks/store.ts';
import type { BuiltForward } from './forward.ts';

type Forwarded = { settlement: Settlement; forward: Extract<BuiltForward, { kind: 'built' }> };

/** Queues the message. Returns false, and changes nothing, when the lease of the task is no longer valid. */
export const settleForward = defineWrite(
  'inbound.forward',
  async (tx, { settlement, forward: { message, recipients } }: Forwarded): Promise<boolean> => {
    if (!(await settleLeased(tx, settlement))) return false;
    await enqueue(tx, message, recipients);
    return true;
  },
  { crashPoints: { beforeCommit: 'forward-before-commit', afterCommit: 'forward-after-commit' } },
);
