/**
 * Emails of keys that require approval. Such an email is accepted like any other, and its recipients are held until a person approves it.
 * When it is declined, or nobody decides in time, its recipients are canceled.
 */
import { type Expiry, endExpired } from '../approvals/expiry.ts';
import { hashOf } from '../approvals/hash.ts';
import {
  askForApproval,
  changedSince,
  findApproval,
  getDecidable,
  isInForce,
  requireRoom,
  settleApproval,
} from '../approvals/store.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { EmailRow } from '../db/email-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { getMail } from '../queue/mail-store.ts';
import { cancelUnapproved, holdUnapproved, releaseApproved } from '../queue/state/approval.ts';
import { type Change, getBound, moveEmail, type NewDate } from './store.ts';

type Asking = { id: EmailRow['id']; askedBy: ApprovalRow['keyId']; now: number };

/**
 * Holds the recipients of an email that was accepted, and asks for its approval, as part of a write. The caller has checked with
 * `requireRoom` that one more can wait.
 */
export async function askForEmail(tx: Tx, { id, askedBy, now }: Asking): Promise<ApprovalRow> {
  const mail = await getMail(tx, id);
  await holdUnapproved(tx, mail, now);
  const { tenantId, mode, domainId } = mail.message;
  const { fromHeader, subject, scheduledAt: sendAt } = await getBound(tx, id);
  const shown = { tenantId, mode, domainId, fromHeader, subject, sendAt };
  const hash = await hashEmail(tx, id);
  return askForApproval(tx, { kind: 'email', reference: id, hash, keyId: askedBy, ...shown }, now);
}

/** Returns the hash of an email: its content, its recipients and its time. */
async function hashEmail(tx: Tx, id: EmailRow['id']): Promise<string> {
  const { contentSha256, ...bound } = await getBound(tx, id);
  const content = contentSha256 && Buffer.from(contentSha256).toString('hex');
  const { recipients } = await getMail(tx, id);
  return hashOf(['email', bound, content, recipients.map(({ address }) => address)]);
}

/**
 * Asks again for an email whose time has changed, as part of the write that changes it, when it has asked before or when the key that
 * changes it requires approval.
 * @throws AppError quota_exceeded when too many wait already
 */
async function askAfterChange(
  tx: Tx,
  { id, askedBy, now }: { id: EmailRow['id']; askedBy: ApprovalRow['keyId'] | null; now: number },
): Promise<void> {
  const before = await findApproval(tx, id);
  const keyId = askedBy ?? (isInForce(before) ? before.keyId : null);
  if (keyId === null) return;
  if (!isInForce(before)) await requireRoom(tx, (await getMail(tx, id)).message);
  else if (before.hash === (await hashEmail(tx, id))) return;
  await askForEmail(tx, { id, askedBy: keyId, now });
}

type Rescheduling = Change & NewDate & { askedBy: ApprovalRow['keyId'] | null };

/**
 * Reschedules an email, which asks for approval again when it has asked before. `askedBy` is the key that reschedules it, when it requires
 * approval. The caller has checked that the email belongs to the tenant.
 * @throws AppError invalid_state; quota_exceeded when too many emails wait for approval
 */
export const rescheduleStoredEmail = defineWrite(
  'emails.reschedule',
  async (tx, { askedBy, ...given }: Rescheduling): Promise<void> => {
    await moveEmail(tx, given);
    await askAfterChange(tx, { id: given.id, askedBy, now: given.now });
  },
);

type Deciding = {
  id: EmailRow['id'];
  /** Id of the key or of the person that decides. */
  by: string;
  /** Hash of what was read. */
  seen: string;
  reason: string | null;
  now: number;
};

/**
 * Approves or declines an email. The caller has checked that it may see the email.
 * @throws AppError invalid_state when it does not wait for approval, or is another than was read
 */
export const decideEmail = defineWrite(
  'emails.decide',
  async (
    tx,
    { decision, ...given }: Deciding & { decision: 'approved' | 'declined' },
  ): Promise<ApprovalRow> => {
    const { id, by, seen, reason, now } = given;
    const approval = await getDecidable(tx, id, { seen, now });
    if ((await hashEmail(tx, id)) !== approval.hash) throw changedSince();
    const mail = await getMail(tx, id);
    await settleApproval(tx, approval, { state: decision, by, reason, now });
    if (decision === 'approved') await releaseApproved(tx, mail, now);
    else await cancelUnapproved(tx, mail, { now, diagnostic: declinedBecause(reason) });
    return (await findApproval(tx, id)) ?? approval;
  },
  {
    crashPoints: { beforeCommit: 'approval-email-before-commit', afterCommit: 'approval-email-after-commit' },
  },
);

function declinedBecause(reason: string | null): string {
  return `The email was not approved${reason === null ? '' : `: ${reason}`}`;
}

/** Cancels an email that nobody has approved in time. */
export const expireEmailApproval = defineWrite('emails.expireApproval', (tx, expiry: Expiry) =>
  endExpired(tx, expiry, async ({ reference }) => {
    const diagnostic = 'Nobody has approved the email in time';
    await cancelUnapproved(tx, await getMail(tx, reference), { now: expiry.now, diagnostic });
  }),
);
