/**
 * Decides whether a bounce suppresses its address: at once, when the refusal is certainly about the recipient, and after bounces on two
 * distinct days, when that is likely. An address that is accepted in between begins anew.
 */
import type { Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { addSuppression } from '../suppressions/change.ts';
import { recordEvidence } from '../suppressions/evidence-store.ts';
import { newId } from '../system/ids.ts';
import { INSTALLATION_TENANT } from '../tenants/installation.ts';
import { findSuccess } from './delivered-store.ts';
import {
  DELAY_NOTICE_AGE_MS,
  makeDelayNoticeDue,
  makeNotificationDue,
  makeRelayNoticeDue,
} from './notifications-store.ts';
import { bounceTypeOf } from './outcome/explain.ts';
import type { BounceType, Report } from './outcome/outcome.ts';
import type { Meaning } from './outcome/replies/meaning.ts';
import type { Change } from './state/change.ts';
import type { SpooledMessage } from './store.ts';

/**
 * Time after which an acceptance counts as a success, in milliseconds, when the bounce comes by mail: servers that accept everything
 * bounce within minutes.
 */
const ACCEPTED_FOR_GOOD_MS = 3_600_000;

type BouncedRecipient = {
  recipient: Pick<RecipientRow, 'address'>;
  report: Report;
  meaning: Meaning;
  now: number;
};

/** Returns the type of a bounce, as part of the write that stores it. A likely bad address is remembered. */
export async function evaluateBounce(
  tx: Tx,
  message: SpooledMessage,
  bounced: BouncedRecipient,
): Promise<BounceType> {
  const { report, meaning } = bounced;
  // A simulated bounce suppresses nobody, but has the type of a bounce that does, also where that takes two days.
  const isSuppressed =
    report.phase === 'simulated' ? meaning.suppresses !== 'never' : await isSuppressing(tx, message, bounced);
  return bounceTypeOf(meaning, { enhancedCode: report.enhancedCode, isSuppressed });
}

async function isSuppressing(tx: Tx, message: SpooledMessage, bounced: BouncedRecipient): Promise<boolean> {
  const { recipient, report, meaning, now } = bounced;
  // A mistyped address in the mail of a person concerns its writer alone, and nobody could lift a suppression of the installation.
  if (message.mailboxId !== null || message.tenantId === INSTALLATION_TENANT) return false;
  if (meaning.suppresses !== 'repeated') return meaning.suppresses === 'now';
  const { tenantId, id: emailId } = message;
  const until = report.phase === 'dsn' ? now - ACCEPTED_FOR_GOOD_MS : now;
  const evidence = { tenantId, address: recipient.address, emailId, row: meaning.row, at: now };
  return recordEvidence(tx, evidence, (since) =>
    findSuccess(tx, { tenantId, address: recipient.address, since, until }),
  );
}

/** Suppresses the address of a permanent bounce. A simulated bounce never does. */
export async function suppressBounced(
  tx: Tx,
  message: SpooledMessage,
  { recipient, transition, now }: Change & { now: number },
): Promise<void> {
  if (transition.cause !== 'bounced' && transition.cause !== 'bounced-later') return;
  if (transition.bounce !== 'permanent' || transition.report.phase === 'simulated') return;
  const diagnostic = transition.report.text;
  await suppressRecipient(tx, message, { recipient, reason: 'bounce', diagnostic, now });
}

/** Makes the notification of the sender due when changes of a message have ended the delivery to a recipient. */
export async function notifyOfBounce(tx: Tx, changes: readonly Change[], now: number): Promise<void> {
  const failed = changes.find(({ transition }) => transition.cause === 'bounced');
  if (failed) await makeNotificationDue(tx, failed.recipient, now);
}

/** Makes the notification that a message is delayed due, when changes of it have put it off. The installation alone sends mail of strangers. */
export async function notifyOfDelay(
  tx: Tx,
  { tenantId, datedAt }: Pick<SpooledMessage, 'tenantId' | 'datedAt'>,
  { changes, now }: { changes: readonly Change[]; now: number },
): Promise<void> {
  if (tenantId !== INSTALLATION_TENANT || now < datedAt + DELAY_NOTICE_AGE_MS) return;
  const delayed = changes.find(({ transition: { cause } }) => cause === 'deferred' || cause === 'overdue');
  if (delayed) await makeDelayNoticeDue(tx, delayed.recipient, now);
}

/** Makes the notification that the next server has taken a forwarded message due, when changes of the message say so. */
export async function notifyOfRelay(
  tx: Tx,
  { tenantId }: Pick<SpooledMessage, 'tenantId'>,
  { changes, now }: { changes: readonly Change[]; now: number },
): Promise<void> {
  if (tenantId !== INSTALLATION_TENANT) return;
  const relayed = changes.find(({ transition }) => transition.cause === 'delivered');
  if (relayed) await makeRelayNoticeDue(tx, relayed.recipient, now);
}

type Cause = {
  recipient: Pick<RecipientRow, 'address'>;
  reason: 'bounce' | 'complaint';
  diagnostic: string;
  /** Time of the bounce or the complaint, in Unix milliseconds. */
  now: number;
};

/** Suppresses the address for the tenant of the message, as part of the write that stores the bounce or the complaint. */
export async function suppressRecipient(
  tx: Tx,
  { id, tenantId, mode }: Pick<SpooledMessage, 'id' | 'tenantId' | 'mode'>,
  { recipient, reason, diagnostic, now }: Cause,
): Promise<void> {
  // A suppression of the installation could be lifted by nobody, and the mail of its postmaster would be lost without a word.
  if (tenantId === INSTALLATION_TENANT) return;
  const suppression = {
    id: newId('sup', now),
    tenantId,
    email: recipient.address,
    reason,
    sourceEmailId: id,
    diagnostic,
    createdAt: now,
  };
  await addSuppression(tx, suppression, { mode, now });
}
