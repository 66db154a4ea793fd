/**
 * The writes that accept email, whole or not at all: emails, messages, bytes, a row for each recipient, `email.queued`, and
 * the idempotency record.
 */
import { findOptedOut, type OptOutQuestion } from '../audiences/contacts/choices/store.ts';
import { insertBlob } from '../blobs/store.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { BlobRow, EmailRow, MessageRow } from '../db/tables.ts';
import { addressKey } from '../mail/address.ts';
import { enqueue, type NewRecipient, recordRecipientEvent, SUPPRESSED } from '../queue/store.ts';
import { findSuppressed } from '../suppressions/store.ts';
import { AppError, type ErrorCode } from '../system/errors.ts';
import { chargeQuota, requireQuota } from '../tenants/quota.ts';
import { type Answer, type Asker, acceptOnce, type IdempotencyClaim } from './idempotency/store.ts';
import type { EnvelopeRecipient } from './request/addresses.ts';
import type { Tag } from './request/tags.ts';
import { insertEmail } from './store.ts';

/** What an email may be refused for, whatever it says. */
export type SendPolicy = {
  recipients: readonly EnvelopeRecipient[];
  /** Counts against the month's quota. */
  isCharged: boolean;
  /** Recipients the simulator suppresses, besides those on the list. */
  simulatedSuppressions: readonly string[];
  /** Of marketing mail: what its readers may have opted out of. */
  topic: Omit<OptOutQuestion, 'addresses'> | undefined;
};

export type EmailRows = SendPolicy & {
  email: EmailRow;
  message: MessageRow;
  blob: BlobRow;
  tags: readonly Tag[];
};

export type Sent = { id: EmailRow['id']; status: 'queued' };
export type BatchFailure = { id: null; status: 'failed'; error: { type: ErrorCode; message: string } };
export type SentBatch = { data: (Sent | BatchFailure)[] };

type Accepting = { acceptance: EmailRows; idempotency: IdempotencyClaim | undefined };

/** @throws AppError idempotency_conflict, suppressed_recipient, quota_exceeded */
export const acceptEmail = defineWrite(
  'emails.accept',
  (tx, { acceptance, idempotency }: Accepting): Promise<Answer<Sent>> => {
    const { tenantId, mode, createdAt: now } = acceptance.message;
    return acceptOnce(tx, { tenantId, mode, now }, idempotency, () => accept(tx, acceptance));
  },
);

type AcceptingBatch = {
  asker: Asker;
  /** Those that failed before keep their places. */
  items: readonly (EmailRows | BatchFailure)[];
  idempotency: IdempotencyClaim | undefined;
};

/** What the transaction finds wrong with one is said in its place. @throws AppError idempotency_conflict */
export const acceptBatch = defineWrite(
  'emails.acceptBatch',
  (tx, { asker, items, idempotency }: AcceptingBatch): Promise<Answer<SentBatch>> =>
    acceptOnce(tx, asker, idempotency, async () => {
      const data: SentBatch['data'] = [];
      for (const item of items) data.push('error' in item ? item : await accept(tx, item).catch(asFailure));
      return { data };
    }),
);

/** What is said of one email of a batch; everything else refuses the whole. */
const OF_ONE_EMAIL: ReadonlySet<ErrorCode> = new Set([
  'validation_error',
  'restricted_api_key',
  'domain_not_verified',
  'suppressed_recipient',
  'quota_exceeded',
]);

/** @throws what is not the fault of one email */
export function asFailure(error: unknown): BatchFailure {
  if (!(error instanceof AppError) || !OF_ONE_EMAIL.has(error.code)) throw error;
  return { id: null, status: 'failed', error: { type: error.code, message: error.message } };
}

/** Decides before it writes: when it refuses, it has written nothing. @throws AppError suppressed_recipient, quota_exceeded */
async function accept(tx: Tx, acceptance: EmailRows): Promise<Sent> {
  const { email, message } = acceptance;
  const recipients = await judgeRecipients(tx, email.tenantId, acceptance);
  if (acceptance.isCharged) await chargeQuota(tx, email.tenantId, { now: message.createdAt, emails: 1 });
  await insertBlob(tx, acceptance.blob);
  await enqueue(tx, message, recipients);
  await insertEmail(tx, email, { tags: acceptance.tags, addresses: recipients.map(({ key }) => key) });
  for (const { address, suppressed } of recipients) {
    const type = suppressed === null ? 'email.queued' : 'email.suppressed';
    await recordRecipientEvent(
      tx,
      { ...message, ...email },
      address,
      { type, details: {} },
      message.createdAt,
    );
  }
  return { id: email.id, status: 'queued' };
}

/**
 * Asked before a large message is stored for nothing; the write that accepts asks again, and decides.
 * @throws AppError suppressed_recipient, quota_exceeded
 */
export async function requirePolicy(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { now, ...policy }: SendPolicy & { now: number },
): Promise<void> {
  await judgeRecipients(tx, tenantId, policy);
  if (policy.isCharged) await requireQuota(tx, tenantId, { now, emails: 1 });
}

type JudgedRecipient = NewRecipient & { key: string };

/** What the API shows of a reader who gets no mail of the topic (api.md 1.6). */
const OPTED_OUT = 'The reader has unsubscribed';
/** The same where the topic's default is out, and most have chosen nothing. */
const NOT_OPTED_IN = 'The reader has not opted in to the topic, or has unsubscribed';

/** @throws AppError suppressed_recipient when none is left */
async function judgeRecipients(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { recipients, simulatedSuppressions, topic }: SendPolicy,
): Promise<JudgedRecipient[]> {
  const addresses = recipients.map(({ address }) => address);
  const suppressed = await findSuppressed(tx, tenantId, addresses);
  for (const address of simulatedSuppressions) suppressed.add(addressKey(address));
  const optedOut = topic && (await findOptedOut(tx, tenantId, { ...topic, addresses }));
  const refusal = topic?.defaultOptIn === false ? NOT_OPTED_IN : OPTED_OUT;
  const judged = recipients.map((recipient) => {
    const key = addressKey(recipient.address);
    const reason = suppressed.has(key) ? SUPPRESSED : optedOut?.has(key) ? refusal : null;
    return { ...recipient, key, suppressed: reason };
  });
  if (judged.some((recipient) => recipient.suppressed === null)) return judged;
  throw new AppError(
    'suppressed_recipient',
    judged.some((recipient) => recipient.suppressed !== SUPPRESSED)
      ? 'All recipients are on the suppression list, have unsubscribed or have not opted in'
      : 'All recipients are on the suppression list',
  );
}
