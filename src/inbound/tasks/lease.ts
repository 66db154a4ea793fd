/** Leases due tasks, so that nothing else runs them at the same time. The lease is durable before the run. */
import { defineWrite } from '../../db/operation.ts';
import { type LeasedTask, leaseDue, type TaskKind } from './store.ts';

type Lease = {
  kind: TaskKind;
  now: number;
  /** End of the lease in Unix milliseconds. */
  until: number;
  runId: string;
  claims: readonly { queue: string; limit: number }[];
};

/** Leases due tasks of the named queues, up to the limit of each. */
export const leaseTasks = defineWrite(
  'inbound.leaseTasks',
  async (tx, { claims, ...lease }: Lease): Promise<LeasedTask[]> => {
    const leased: LeasedTask[] = [];
    for (const { queue, limit } of claims) leased.push(...(await leaseDue(tx, { ...lease, queue, limit })));
    return leased;
  },
);
