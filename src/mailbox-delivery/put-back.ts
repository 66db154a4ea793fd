/** Makes the delivery to a mailbox due again that could not take the message, with the report of the delay that may follow. */
import { defineWrite } from '../db/operation.ts';
import { scheduleSenderReport } from '../inbound/sender-reports.ts';
import { retryTask, type TaskEnd } from '../tasks/store.ts';

type PutBack = {
  retry: Parameters<typeof retryTask.run>[1];
  /** The delivery, and the time at which its sender is told that the message still waits; undefined where nobody is told. */
  notice: Omit<Parameters<typeof scheduleSenderReport>[1], 'action'> | undefined;
};

/** Makes a delivery due again. The report of the delay is left out when the message has been delivered by then. */
export const putBackDelivery = defineWrite(
  'inbound.putBackDelivery',
  async (tx, { retry, notice }: PutBack): Promise<TaskEnd> => {
    const end = await retryTask.run(tx, retry);
    if (notice && end !== 'stale') await scheduleSenderReport(tx, { ...notice, action: 'delayed' });
    return end;
  },
);
