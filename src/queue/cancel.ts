/** Taking mail back, or putting it off: as long as nobody has tried to deliver any of it (api.md 1.2, cancel). */
import type { Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { AppError } from '../system/errors.ts';
import {
  changeRecipient,
  getMessage,
  listRecipients,
  redateMessage,
  refreshStatus,
  type SpooledMessage,
} from './store.ts';

/** Part of a write; the caller knows that the tenant has the message. @throws AppError invalid_state */
export async function cancelMessage(
  tx: Tx,
  { messageId, now }: { messageId: string; now: number },
): Promise<void> {
  const { message, all, open } = await getUntouched(tx, messageId, 'canceled');
  for (const recipient of open) {
    const patch = { state: 'canceled', dueAt: null, epoch: null } as const;
    await changeRecipient(tx, message, recipient, patch, {
      now,
      event: { type: 'email.canceled', details: {} },
    });
  }
  await refreshStatus(tx, message, all);
}

export type Rescheduling = { messageId: string; now: number; datedAt: number; expiresAt: number };

/** The same for another time. @throws AppError invalid_state */
export async function rescheduleMessage(
  tx: Tx,
  { messageId, now, datedAt, expiresAt }: Rescheduling,
): Promise<void> {
  const { message, open } = await getUntouched(tx, messageId, 'rescheduled');
  for (const recipient of open) await changeRecipient(tx, message, recipient, { dueAt: datedAt }, { now });
  await redateMessage(tx, { id: message.id, datedAt, expiresAt });
}

async function getUntouched(
  tx: Tx,
  messageId: string,
  wish: string,
): Promise<{ message: SpooledMessage; all: RecipientRow[]; open: RecipientRow[] }> {
  const message = await getMessage(tx, messageId);
  const all = await listRecipients(tx, messageId);
  const open = all.filter((recipient) => recipient.state === 'ready');
  const isUntouched = all.every(
    ({ state, attempts }) => (state === 'ready' || state === 'suppressed') && attempts === 0,
  );
  if (isUntouched && open.length > 0) return { message, all, open };
  throw new AppError(
    'invalid_state',
    message.status === 'canceled'
      ? 'The email is canceled already'
      : `The email can no longer be ${wish}: its delivery has begun`,
  );
}
