/** Queues a report to the sender of a received message, and ends the task that asked for it in one transaction, so that no crash sends it twice or never. */
import { insertBlob } from '../../blobs/store.ts';
import { defineWrite } from '../../db/operation.ts';
import { enqueue } from '../../queue/store.ts';
import { completeTask, type Lease, type TaskEnd } from '../../tasks/store.ts';
import type { OwnMail } from '../forward/own-mail.ts';

/** Queues the report, if there is one. When the answer is `stale`, nothing has changed. */
export const settleSenderReport = defineWrite(
  'inbound.reportToSender',
  async (tx, { lease, mail }: { lease: Lease; mail: OwnMail | undefined }): Promise<TaskEnd> => {
    const end = await completeTask.run(tx, lease);
    if (end === 'stale' || !mail) return end;
    await insertBlob(tx, mail.blob);
    await enqueue(tx, mail.message, mail.recipients);
    return end;
  },
  { crashPoints: { beforeCommit: 'sender-report-before-commit', afterCommit: 'sender-report-after-commit' } },
);
