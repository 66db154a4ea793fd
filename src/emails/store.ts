/** What the API adds to a message: the emails, and what they are found by. Their SQL, but for the list's (list/store.ts). */
import { insertBlob } from '../blobs/store.ts';
import { defineRead, defineWrite, type Tx } from '../db/operation.ts';
import { readPage } from '../db/page.ts';
import { type Param, statement } from '../db/statement.ts';
import type { BlobRow, EmailAddressRow, EmailRow, EmailTagRow, MessageRow, Mode } from '../db/tables.ts';
import { addressKey } from '../mail/address.ts';
import { cancelMessage, rescheduleMessage } from '../queue/cancel.ts';
import { enqueue, recordRecipientEvent } from '../queue/store.ts';
import { findSuppressed } from '../suppressions/store.ts';
import { AppError } from '../system/errors.ts';
import { chargeQuota, requireQuota } from '../tenants/quota.ts';
import { type Accepted, findReplay, type IdempotencyClaim, recordResponse } from './idempotency/store.ts';
import { type ListEmails, readEmailSlice } from './list/store.ts';
import type { EnvelopeRecipient } from './request/addresses.ts';
import type { Tag } from './request/tags.ts';
import type { EmailWithStatus } from './show.ts';

const insertEmail = statement((db, param: Param<EmailRow>) =>
  db.insertInto('emails').values({
    id: param('id'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    type: param('type'),
    fromHeader: param('fromHeader'),
    fromAddress: param('fromAddress'),
    fromDomain: param('fromDomain'),
    toList: param('toList'),
    ccList: param('ccList'),
    bccList: param('bccList'),
    replyToList: param('replyToList'),
    subject: param('subject'),
    headers: param('headers'),
    attachments: param('attachments'),
    tags: param('tags'),
    scheduledAt: param('scheduledAt'),
    templateId: param('templateId'),
    topicId: param('topicId'),
    missingVariables: param('missingVariables'),
    rfcMessageId: param('rfcMessageId'),
    createdAt: param('createdAt'),
    html: param('html'),
    text: param('text'),
  }),
);

const insertAddress = statement((db, param: Param<EmailAddressRow>) =>
  db.insertInto('emailAddresses').values({
    tenantId: param('tenantId'),
    mode: param('mode'),
    address: param('address'),
    emailId: param('emailId'),
  }),
);

const insertTag = statement((db, param: Param<EmailTagRow>) =>
  db.insertInto('emailTags').values({
    tenantId: param('tenantId'),
    mode: param('mode'),
    key: param('key'),
    value: param('value'),
    emailId: param('emailId'),
  }),
);

/** What an email may be refused for, whatever it says. */
export type Admission = {
  recipients: readonly EnvelopeRecipient[];
  /** Counts against the month's quota. */
  isCharged: boolean;
  /** Recipients the simulator suppresses, besides those on the list. */
  simulatedSuppressions: readonly string[];
};

export type Acceptance = Admission & {
  email: EmailRow;
  message: MessageRow;
  blob: BlobRow;
  tags: readonly Tag[];
  idempotency: IdempotencyClaim | undefined;
};

/**
 * Accepting an email, whole or not at all: email, message, bytes, a row for each recipient, `email.queued`, and the
 * idempotency record, so that a second request with the key finds either everything or nothing.
 *
 * @throws AppError idempotency_conflict, suppressed_recipient, quota_exceeded
 */
export const acceptEmail = defineWrite('emails.accept', async (tx, input: Acceptance): Promise<Accepted> => {
  const { email, message, idempotency } = input;
  if (idempotency) {
    const replay = await findReplay(tx, { ...message, ...idempotency, now: message.createdAt });
    if (replay) return replay;
  }
  const recipients = await judgeRecipients(tx, email.tenantId, input);
  if (input.isCharged) await chargeQuota(tx, email.tenantId, { now: message.createdAt, emails: 1 });
  await insertBlob(tx, input.blob);
  await enqueue(tx, message, recipients);
  await insertEmail.all(tx, email);
  for (const tag of input.tags) await insertTag.all(tx, { ...email, ...tag, emailId: email.id });
  for (const { address, suppressed } of recipients) {
    await insertAddress.all(tx, { ...email, address: addressKey(address), emailId: email.id });
    const event = { type: suppressed ? 'email.suppressed' : 'email.queued', details: {} } as const;
    await recordRecipientEvent(tx, { ...message, ...email }, address, event, message.createdAt);
  }
  const accepted = { id: email.id, status: 'queued' } as const;
  if (idempotency)
    await recordResponse(tx, { ...message, ...idempotency, response: JSON.stringify(accepted) });
  return { ...accepted, replayed: false };
});

/**
 * Asked before a large message is stored for nothing; `acceptEmail` asks again, and decides.
 * @throws AppError suppressed_recipient, quota_exceeded
 */
export async function requireAdmission(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { now, ...admission }: Admission & { now: number },
): Promise<void> {
  await judgeRecipients(tx, tenantId, admission);
  if (admission.isCharged) await requireQuota(tx, tenantId, { now, emails: 1 });
}

/** @throws AppError suppressed_recipient when none is left */
async function judgeRecipients(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { recipients, simulatedSuppressions }: Admission,
) {
  const addresses = recipients.map(({ address }) => address);
  const suppressed = await findSuppressed(tx, tenantId, addresses);
  for (const address of simulatedSuppressions) suppressed.add(addressKey(address));
  const judged = recipients.map((recipient) => ({
    ...recipient,
    suppressed: suppressed.has(addressKey(recipient.address)),
  }));
  if (judged.every((recipient) => recipient.suppressed))
    throw new AppError('suppressed_recipient', 'All recipients are on the suppression list');
  return judged;
}

const byId = statement((db, param: Param<Pick<EmailRow, 'tenantId' | 'mode' | 'id'>>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .selectAll('emails')
    .select(['messages.status', 'messages.lastEventAt'])
    .where('emails.id', '=', param('id'))
    .where('emails.tenantId', '=', param('tenantId'))
    .where('emails.mode', '=', param('mode')),
);

export function findEmail(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { mode, id }: { mode: Mode; id: EmailRow['id'] },
): Promise<EmailWithStatus | undefined> {
  return byId.first(tx, { tenantId, mode, id });
}

type Change = Pick<EmailRow, 'tenantId' | 'id'> & { now: number };

/** Of an email the caller has found. @throws AppError invalid_state */
export const cancelStoredEmail = defineWrite('emails.cancel', async (tx, { id, now }: Change) => {
  await cancelMessage(tx, { messageId: id, now });
});

type NewDate = Pick<EmailRow, 'scheduledAt'> & Pick<MessageRow, 'datedAt' | 'expiresAt'>;

/** The same. @throws AppError invalid_state */
export const rescheduleStoredEmail = defineWrite(
  'emails.reschedule',
  async (tx, { tenantId, id, now, scheduledAt, datedAt, expiresAt }: Change & NewDate) => {
    await rescheduleMessage(tx, { messageId: id, now, datedAt, expiresAt });
    await tx
      .updateTable('emails')
      .set({ scheduledAt })
      .where('id', '=', id)
      .where('tenantId', '=', tenantId)
      .execute();
  },
);

export const listEmails = defineRead('emails.list', (tx, input: ListEmails) =>
  readPage(input.page, (slice) => readEmailSlice(tx, input, slice)),
);
