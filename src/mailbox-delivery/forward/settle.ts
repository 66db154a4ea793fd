/**
 * Stores a forwarded message, or the notification that it has failed, and ends what asked for it in one transaction, so that no crash
 * does either twice or never.
 */
import { insertBlob } from '../../blobs/store.ts';
import { defineWrite } from '../../db/operation.ts';
import { type Settlement, settleReceived } from '../../inbound/tasks/store.ts';
import { endNotification, insertNotification, markDelayReported } from '../../queue/notifications-store.ts';
import { enqueue } from '../../queue/store.ts';
import { completeTask, type Lease, type TaskEnd } from '../../tasks/store.ts';
import type { BuiltForward } from './forward.ts';
import type { OwnMail } from './own-mail.ts';

type Forwarded = { settlement: Settlement; forward: Extract<BuiltForward, { kind: 'built' }> };

/** Queues the message. When the answer is `stale`, the task was no longer leased to the run, and nothing has changed. */
export const settleForward = defineWrite(
  'inbound.forward',
  async (tx, { settlement, forward: { message, recipients, notification } }: Forwarded): Promise<TaskEnd> => {
    const end = await settleReceived(tx, settlement);
    if (end === 'stale') return end;
    await enqueue(tx, message, recipients);
    if (notification) await insertNotification(tx, notification);
    return end;
  },
  { crashPoints: { beforeCommit: 'forward-before-commit', afterCommit: 'forward-after-commit' } },
);

type Notified = {
  lease: Lease;
  mail: OwnMail | undefined;
  /** True for the notification of a delay, after which one of a failure may follow. */
  isDelay: boolean;
};

/** Queues the notification about a message, if there is one. When the answer is `stale`, nothing has changed. */
export const settleNotification = defineWrite(
  'inbound.notify',
  async (tx, { lease, mail, isDelay }: Notified): Promise<TaskEnd> => {
    const end = await completeTask.run(tx, lease);
    if (end === 'stale') return end;
    const isNew = await (isDelay ? markDelayReported : endNotification)(tx, lease.reference);
    if (!isNew || !mail) return end;
    await insertBlob(tx, mail.blob);
    await enqueue(tx, mail.message, mail.recipients);
    return end;
  },
  { crashPoints: { beforeCommit: 'notification-before-commit', afterCommit: 'notification-after-commit' } },
);
