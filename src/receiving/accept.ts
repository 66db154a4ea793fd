/**
 * The write that accepts a message completely or not at all: its bytes, a row for each tenant with its recipients and
 * tasks, and `email.received`.
 */

import { insertBlob } from '../blobs/store.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { BlobRow } from '../db/tables.ts';
import { recordEvent } from '../events/store.ts';
import { addressesOf, type ReceivedRows } from '../inbound/received-rows.ts';
import { scheduleSenderReport } from '../inbound/sender-reports.ts';
import { hasInstallationSpaceFor, hasTooManyAnswers } from '../inbound/space.ts';
import { insertReceived } from '../inbound/store.ts';
import { insertTask } from '../inbound/tasks/store.ts';
import { isoTime } from '../system/clock.ts';
import { newId } from '../system/ids.ts';

/** Accepts a message. Returns false, and stores nothing, when the installation has no space for it any more. */
export const acceptReceived = defineWrite(
  'inbound.accept',
  async (tx, { blob, groups }: { blob: BlobRow; groups: readonly ReceivedRows[] }): Promise<boolean> => {
    for (const group of groups) if (!(await hasSpace(tx, group))) return false;
    await insertBlob(tx, blob);
    for (const { message, recipients, tasks, reported, results } of groups) {
      await insertReceived(tx, message, recipients);
      for (const task of tasks) await insertTask(tx, task);
      const { id: messageId, tenantId, createdAt: dueAt } = message;
      for (const position of reported)
        await scheduleSenderReport(tx, { messageId, position, action: 'delivered', tenantId, dueAt });
      await recordReceived(tx, { message, recipients, results });
    }
    return true;
  },
  { crashPoints: { beforeCommit: 'receive-before-commit', afterCommit: 'receive-after-commit' } },
);

async function hasSpace(tx: Tx, { message, recipients }: ReceivedRows): Promise<boolean> {
  if (message.tenantId !== null) return true;
  for (const recipient of recipients) {
    if (await hasTooManyAnswers(tx, recipient)) return false;
    if (!(await hasInstallationSpaceFor(tx, recipient, message.sizeBytes))) return false;
  }
  return true;
}

/**
 * Records `email.received` for the tenant when a route gets the message, with the recipients of routes. The mail of mailboxes belongs to
 * people, so it is no event. Mail that arrives counts as live mail.
 */
async function recordReceived(
  tx: Tx,
  { message, recipients, results }: Omit<ReceivedRows, 'tasks' | 'reported'>,
): Promise<void> {
  const { tenantId, createdAt } = message;
  const { spf, dkim, dmarc } = results;
  if (tenantId === null || message.isForRoute === 0) return;
  const addresses = addressesOf(recipients.filter(({ kind }) => kind === 'post'));
  const data = {
    id: message.id,
    sender: message.sender,
    to: addresses[0],
    recipients: addresses,
    from: message.headerFrom ?? message.sender,
    subject: message.subject,
    messageId: message.messageId === null ? null : `<${message.messageId}>`,
    emailId: message.emailId,
    sizeBytes: message.sizeBytes,
    auth: { spf, dkim, dmarc },
    flagged: message.flagged === 1,
    createdAt: isoTime(createdAt),
  };
  const id = newId('evt', createdAt);
  await recordEvent(tx, {
    id,
    tenantId,
    mode: 'live',
    type: 'email.received',
    emailId: null,
    data,
    createdAt,
  });
}
