/**
 * The writes that accept email completely or not at all: emails, messages, content, a row for each recipient,
 * `email.queued`, and the idempotency record.
 */
import type { ShownApprovalState } from '../approvals/schemas.ts';
import { showApprovalState } from '../approvals/show.ts';
import { requireRoom } from '../approvals/store.ts';
import { insertBlob } from '../blobs/store.ts';
import { storeTally } from '../counts/store.ts';
import { Tally } from '../counts/tally.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { EmailRow } from '../db/email-tables.ts';
import { defineWrite, type Tx, type WriteOptions } from '../db/operation.ts';
import type { BlobRow, MessageRow } from '../db/tables.ts';
import { addressKey } from '../mail/address.ts';
import type { NewSource } from '../queue/contents/source.ts';
import { insertContent } from '../queue/contents/store.ts';
import { findExclusions, SUPPRESSED } from '../queue/exclusions.ts';
import type { RecipientEvent } from '../queue/state/recipient-event.ts';
import { recordRecipientEvent } from '../queue/state/recipient-event.ts';
import { enqueue, type NewRecipient } from '../queue/store.ts';
import { AppError, type ErrorCode } from '../system/errors.ts';
import { chargeQuota, requireQuota } from '../tenants/quota.ts';
import { insertTargets } from '../tracking/links/store.ts';
import { askForEmail } from './approval.ts';
import {
  type Answer,
  acceptOnce,
  type IdempotencyClaim,
  type IdempotencyOwner,
} from './idempotency/store.ts';
import type { EnvelopeRecipient } from './request/addresses.ts';
import type { Tag } from './request/tags.ts';
import { insertEmail } from './store.ts';

/** Facts about an email that decide whether it may be sent, apart from its content. */
export type SendPolicy = {
  recipients: readonly EnvelopeRecipient[];
  /** True when the email counts against the monthly quota. */
  isCharged: boolean;
  /** Recipients that the simulator suppresses, in addition to those on the suppression list. */
  simulatedSuppressions: readonly string[];
  kind: MessageRow['kind'];
  /** The topic of marketing mail, from which its recipients may have opted out. Null for transactional mail. */
  topicId: MessageRow['topicId'];
  /** The key in whose name the email asks for approval; null when it needs none. */
  askedBy: ApprovalRow['keyId'] | null;
};

export type EmailRows = SendPolicy & {
  email: EmailRow;
  message: MessageRow;
  /** The stored bytes of the message, if it has any. */
  blob: BlobRow | undefined;
  /** The texts; undefined for a message that is sent as its bytes are stored. */
  source: NewSource | undefined;
  /** Size of the texts in bytes. */
  textBytes: number;
  tags: readonly Tag[];
  /** Addresses of the tracked links. */
  targets: readonly string[];
};

export type Sent = {
  id: EmailRow['id'];
  status: 'queued';
  /** Present when the email waits for approval. */
  approval?: ShownApprovalState;
};
export type BatchFailure = { id: null; status: 'failed'; error: { type: ErrorCode; message: string } };
export type SentBatch = { data: (Sent | BatchFailure)[] };

type Accepting = { rows: EmailRows; idempotency: IdempotencyClaim | undefined };

const ACCEPTING: WriteOptions = {
  crashPoints: { beforeCommit: 'accept-before-commit', afterCommit: 'accept-after-commit' },
};

/**
 * Accepts one email, or returns the recorded answer of a repeated request.
 * @throws AppError idempotency_conflict, suppressed_recipient, quota_exceeded
 */
export const acceptEmail = defineWrite(
  'emails.accept',
  (tx, { rows, idempotency }: Accepting): Promise<Answer<Sent>> => {
    const { tenantId, mode, createdAt: now } = rows.message;
    return acceptOnce(tx, { owner: { tenantId, mode, now }, claim: idempotency }, () => acceptOne(tx, rows));
  },
  ACCEPTING,
);

/**
 * Accepts one email and counts it, as part of a write.
 * @throws AppError suppressed_recipient, quota_exceeded
 */
export async function acceptOne(tx: Tx, rows: EmailRows): Promise<Sent> {
  const tally = new Tally();
  const sent = await accept(tx, rows, tally);
  await storeTally(tx, tally);
  return sent;
}

type AcceptingBatch = {
  owner: IdempotencyOwner;
  /** Emails in the order of the request. Those that failed before the write keep their position. */
  items: readonly (EmailRows | BatchFailure)[];
  idempotency: IdempotencyClaim | undefined;
  /** True when one email that is refused refuses the whole batch. */
  isStrict?: boolean;
};

/**
 * Accepts the emails of a batch, or returns the recorded answer of a repeated request. An email that the write
 * refuses gets a failure at its position, or refuses the whole batch when that is strict.
 * @throws AppError idempotency_conflict; for a strict batch suppressed_recipient, quota_exceeded
 */
export const acceptBatch = defineWrite(
  'emails.acceptBatch',
  (tx, { owner, items, idempotency, isStrict }: AcceptingBatch): Promise<Answer<SentBatch>> =>
    acceptOnce(tx, { owner, claim: idempotency }, async () => {
      const data: SentBatch['data'] = [];
      const tally = new Tally();
      for (const [index, item] of items.entries()) {
        const refused = (error: unknown) => {
          if (isStrict) throw atPosition(error, index);
          return asFailure(error);
        };
        data.push('error' in item ? item : await accept(tx, item, tally).catch(refused));
      }
      await storeTally(tx, tally);
      return { data };
    }),
  ACCEPTING,
);

/** Error codes that concern one email of a batch. Any other error refuses the whole batch. */
const SINGLE_EMAIL_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'validation_error',
  'restricted_api_key',
  'domain_not_verified',
  'suppressed_recipient',
  'quota_exceeded',
]);

/**
 * Returns the failure of one email of a batch.
 * @throws the error itself when it concerns the whole batch
 */
export function asFailure(error: unknown): BatchFailure {
  if (!(error instanceof AppError) || !SINGLE_EMAIL_ERRORS.has(error.code)) throw error;
  return { id: null, status: 'failed', error: { type: error.code, message: error.message } };
}

/** Returns the refusal of an email with its place in the batch; any other error as it is. */
export function atPosition(error: unknown, index: number): unknown {
  if (!(error instanceof AppError) || !SINGLE_EMAIL_ERRORS.has(error.code)) return error;
  const { param, issues, ...options } = error.options;
  const within = (path: string) => `emails[${index}]${path === '' ? '' : `.${path}`}`;
  return new AppError(error.code, `Email ${index} of the batch: ${error.message}`, {
    ...options,
    param: within(param ?? ''),
    ...(issues && { issues: issues.map(({ path, message }) => ({ path: within(path), message })) }),
  });
}

const QUEUED: RecipientEvent = { type: 'email.queued', details: {}, counters: ['accepted'] };
const SUPPRESSED_AT_ONCE: RecipientEvent = {
  type: 'email.suppressed',
  details: {},
  counters: ['suppressed'],
};

/**
 * Accepts one email. All checks precede the first write, so a refused email leaves no rows and counts nothing.
 * @throws AppError suppressed_recipient; quota_exceeded, also when too many emails wait for approval
 */
async function accept(tx: Tx, rows: EmailRows, tally: Tally): Promise<Sent> {
  const { email, message } = rows;
  const recipients = await evaluateRecipients(tx, email.tenantId, rows);
  if (rows.askedBy !== null) await requireRoom(tx, email);
  if (rows.isCharged) await chargeQuota(tx, email.tenantId, { now: message.createdAt, emails: 1 });
  if (rows.blob) await insertBlob(tx, rows.blob);
  const contentId = rows.source ? await insertContent(tx, email.tenantId, rows.source) : null;
  await enqueue(tx, { ...message, contentId }, recipients);
  await insertTargets(tx, email.id, rows.targets);
  await insertEmail(tx, email, { tags: rows.tags, addresses: recipients.map(({ key }) => key) });
  for (const { address, suppressed } of recipients) {
    const event = suppressed === null ? QUEUED : SUPPRESSED_AT_ONCE;
    await recordRecipientEvent(tx, message, { to: address, event, at: message.createdAt, tally });
  }
  const sent: Sent = { id: email.id, status: 'queued' };
  if (rows.askedBy === null) return sent;
  const asked = { id: email.id, askedBy: rows.askedBy, now: message.createdAt };
  return { ...sent, approval: showApprovalState(await askForEmail(tx, asked)) };
}

/**
 * Refuses an email that the policy does not allow, before its large content is stored. The write that accepts the
 * email checks the policy again.
 * @throws AppError suppressed_recipient, quota_exceeded
 */
export async function requirePolicy(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { now, ...policy }: SendPolicy & { now: number },
): Promise<void> {
  await evaluateRecipients(tx, tenantId, policy);
  if (policy.isCharged) await requireQuota(tx, tenantId, { now, emails: 1 });
}

type EvaluatedRecipient = NewRecipient & { key: string };

/**
 * Returns every recipient with the reason why it is not attempted, if there is one.
 * @throws AppError suppressed_recipient when no recipient remains
 */
async function evaluateRecipients(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { recipients, simulatedSuppressions, kind, topicId }: SendPolicy,
): Promise<EvaluatedRecipient[]> {
  const addresses = recipients.map(({ address }) => address);
  const simulated = new Set(simulatedSuppressions.map(addressKey));
  const excluded = await findExclusions(tx, tenantId, { kind, topicId, addresses });
  const evaluated = recipients.map((recipient) => {
    const key = addressKey(recipient.address);
    const suppressed = simulated.has(key) ? SUPPRESSED : (excluded.get(key)?.reason ?? null);
    return { ...recipient, key, suppressed };
  });
  if (evaluated.some((recipient) => recipient.suppressed === null)) return evaluated;
  throw new AppError(
    'suppressed_recipient',
    evaluated.some((recipient) => recipient.suppressed !== SUPPRESSED)
      ? 'All recipients are on the suppression list, have unsubscribed or have not opted in'
      : 'All recipients are on the suppression list',
  );
}
