/** Settles the attempt of a task: one transaction stores its new state, and ends its message with the last task. */
import { defineWrite } from '../../db/operation.ts';
import { type Settlement, settleLeased } from './store.ts';

/** Settles a task. Returns false, and changes nothing, when its lease is no longer valid. */
export const settleTask = defineWrite(
  'inbound.settleTask',
  (tx, settlement: Settlement): Promise<boolean> => settleLeased(tx, settlement),
);
