/**
 * Taking mail for delivery. The claim counts the attempt and is durable before anything is sent, so that after a crash
 * every mail that may have left is known (engine.md 4, crash matrix).
 */
import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { addressKey } from '../mail/address.ts';
import { findSuppressed } from '../suppressions/store.ts';
import { newId } from '../system/ids.ts';
import {
  changeRecipient,
  getMessage,
  insertAttempt,
  listAbandoned,
  listDue,
  listRecipients,
  refreshStatus,
  type SpooledMessage,
  SUPPRESSED,
} from './store.ts';

/** One transaction: a message and its recipients at one domain. */
export type Delivery = { message: SpooledMessage; domain: string; recipients: RecipientRow[] };

/** Longer than the longest delivery (DELIVERY_DEADLINE_MS), so that nothing is run twice at the same time. */
const LEASE_MS = 60 * 60_000;
/** RFC 5321 4.5.3.1.8: a server must take 100 recipients; Postfix sends 50 at a time. */
const RECIPIENTS_PER_TRANSACTION = 50;

export const claimDeliveries = defineWrite(
  'queue.claim',
  async (tx, input: { now: number; epoch: string; limit: number }): Promise<Delivery[]> => {
    const due = await listDue(tx, input.now, input.limit);
    const groups = new Map(due.map((row) => [`${row.messageId} ${row.domain}`, row]));
    const deliveries: Delivery[] = [];
    for (const { messageId, domain } of groups.values()) {
      const delivery = await claim(tx, messageId, domain, input);
      if (delivery.recipients.length > 0) deliveries.push(delivery);
    }
    return deliveries;
  },
);

async function claim(
  tx: Tx,
  messageId: string,
  domain: string,
  { now, epoch }: { now: number; epoch: string },
): Promise<Delivery> {
  const message = await getMessage(tx, messageId);
  const recipients = (await listRecipients(tx, messageId))
    .filter((recipient) => recipient.domain === domain && isDue(recipient, now))
    .slice(0, RECIPIENTS_PER_TRANSACTION);
  const suppressed = await listSuppressed(tx, message, recipients);
  const taken: RecipientRow[] = [];
  for (const recipient of recipients) {
    if (suppressed.has(addressKey(recipient.address))) {
      await dropSuppressed(tx, message, recipient, now);
      continue;
    }
    const attempts = recipient.attempts + 1;
    const patch = { state: 'in_flight', epoch, attempts, dueAt: now + LEASE_MS } as const;
    // decisions.md 16: `email.sent` is the first claim, once for each recipient.
    const event = attempts === 1 ? { event: { type: 'email.sent', details: {} } as const } : {};
    await changeRecipient(tx, message, recipient, patch, { now, ...event });
    taken.push(recipient);
  }
  await refreshStatus(tx, message);
  return { message, domain, recipients: taken };
}

/** Test mail goes nowhere, so nobody is spared by not sending it. */
function listSuppressed(
  tx: Tx,
  message: SpooledMessage,
  recipients: readonly RecipientRow[],
): Promise<Set<string>> {
  const addresses = message.mode === 'live' ? recipients.map((recipient) => recipient.address) : [];
  return findSuppressed(tx, message.tenantId, addresses);
}

/** Specification 1: an address suppressed since the mail was accepted is not delivered to either. */
async function dropSuppressed(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  now: number,
): Promise<void> {
  const patch = { state: 'suppressed', dueAt: null, epoch: null, diagnostic: SUPPRESSED } as const;
  await changeRecipient(tx, message, recipient, patch, {
    now,
    event: { type: 'email.suppressed', details: {} },
  });
}

function isDue({ state, dueAt }: RecipientRow, now: number): boolean {
  return (state === 'ready' || state === 'deferred') && dueAt !== null && dueAt <= now;
}

/** The fifth time a recipient is found in flight after a crash it is probably what crashes us (engine.md 0). */
const MOST_DOUBTS = 5;
/** Recovered mail does not all leave in the first second. */
const RECOVERY_SPREAD_MS = 5_000;

/**
 * Puts back what a crash left in flight: to be retried, its doubt counted, or held for the operator when it keeps
 * happening. Nothing is deleted.
 */
export const recoverAbandoned = defineWrite(
  'queue.recover',
  async (tx, { now, epoch }: { now: number; epoch: string }): Promise<{ retried: number; held: number }> => {
    const abandoned = await listAbandoned(tx, epoch, now);
    let held = 0;
    for (const [index, recipient] of abandoned.entries()) {
      const message = await getMessage(tx, recipient.messageId);
      const doubts = recipient.doubts + 1;
      const hold = doubts >= MOST_DOUBTS;
      if (hold) held++;
      const dueAt = now + Math.round((RECOVERY_SPREAD_MS * index) / abandoned.length);
      await insertAttempt(tx, recoveredAttempt(recipient, now));
      await changeRecipient(
        tx,
        message,
        recipient,
        { state: hold ? 'held' : 'ready', doubts, epoch: null, dueAt: hold ? null : dueAt },
        { now },
      );
      await refreshStatus(tx, message);
    }
    return { retried: abandoned.length - held, held };
  },
);

function recoveredAttempt(recipient: RecipientRow, now: number) {
  return {
    id: newId('att', now),
    recipientId: recipient.id,
    messageId: recipient.messageId,
    tenantId: recipient.tenantId,
    at: now,
    durationMs: 0,
    outcome: 'recovered',
    phase: 'unknown',
    mx: null,
    address: null,
    tls: null,
    smtpCode: null,
    enhancedCode: null,
    reply: 'The daemon ended during this attempt',
  } as const;
}
