/**
 * Claims mail for delivery. A claim counts the attempt and is durable before anything is sent, so that after a crash
 * the daemon knows all mail that may have been sent (engine.md 4, crash matrix).
 */
import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { addressKey } from '../mail/address.ts';
import { findSuppressed } from '../suppressions/store.ts';
import {
  changeRecipient,
  findMessage,
  listRecipients,
  refreshStatus,
  type SpooledMessage,
  SUPPRESSED,
} from './store.ts';

/** A delivery is the content of one SMTP transaction: a message and those of its recipients that go to one site. */
export type Delivery = { message: SpooledMessage; recipients: RecipientRow[] };

export type Claim = {
  now: number;
  runId: string;
  /**
   * Time at which the lease ends, in milliseconds of the monotonic clock of this start. A wall clock that jumps ahead
   * therefore ends no lease (security.md 3).
   */
  leasedUntil: number;
  messageIds: readonly string[];
  /** Keys of the delivery queues whose recipients are claimed. All of them lead to one site. */
  queues: readonly string[];
};

/**
 * Length of a lease. It is longer than a delivery may last (DELIVERY_DEADLINE_MS), so that no mail is delivered twice
 * at the same time.
 */
export const LEASE_MS = 60 * 60_000;
/**
 * Maximum number of recipients in one SMTP transaction. A server must accept at least 100 (RFC 5321 4.5.3.1.8);
 * Postfix sends 50 at a time.
 */
const RECIPIENTS_PER_TRANSACTION = 50;

/** Returns the end of a lease that begins at `elapsedMs`. Both are milliseconds of the monotonic clock. */
export function leaseFrom(elapsedMs: number): number {
  return Math.round(elapsedMs) + LEASE_MS;
}

/**
 * Claims the due recipients of the messages in the named queues. Returns one delivery for each message with claimed
 * recipients; a message without due recipients is left out.
 */
export const claimDeliveries = defineWrite('queue.claim', async (tx, claim: Claim): Promise<Delivery[]> => {
  const queues = new Set(claim.queues);
  const deliveries: Delivery[] = [];
  for (const messageId of claim.messageIds) {
    const delivery = await claimMessage(tx, messageId, queues, claim);
    if (delivery) deliveries.push(delivery);
  }
  return deliveries;
});

async function claimMessage(
  tx: Tx,
  messageId: string,
  queues: ReadonlySet<string>,
  { now, runId, leasedUntil }: Claim,
): Promise<Delivery | undefined> {
  const message = await findMessage(tx, messageId);
  if (!message) return undefined;
  const all = await listRecipients(tx, messageId);
  const due = all
    .filter((recipient) => queues.has(recipient.queue) && isDue(recipient, now))
    .slice(0, RECIPIENTS_PER_TRANSACTION);
  if (due.length === 0) return undefined;
  const suppressed = await listSuppressed(tx, message, due);
  const taken: RecipientRow[] = [];
  for (const recipient of due) {
    if (suppressed.has(addressKey(recipient.address))) {
      await dropSuppressed(tx, message, recipient, now);
      continue;
    }
    const attempts = recipient.attempts + 1;
    const patch = { state: 'in_flight', runId, attempts, dueAt: leasedUntil } as const;
    // The first claim of each recipient records `email.sent` (decisions.md 16).
    const event = attempts === 1 ? { event: { type: 'email.sent', details: {} } as const } : {};
    await changeRecipient(tx, message, recipient, patch, { now, ...event });
    taken.push(recipient);
  }
  await refreshStatus(tx, message, all);
  return taken.length > 0 ? { message, recipients: taken } : undefined;
}

/** Returns the suppressed addresses of the recipients. Test mail has none, because it is never sent to anybody. */
function listSuppressed(
  tx: Tx,
  message: SpooledMessage,
  recipients: readonly RecipientRow[],
): Promise<Set<string>> {
  const addresses = message.mode === 'live' ? recipients.map((recipient) => recipient.address) : [];
  return findSuppressed(tx, message.tenantId, addresses);
}

/** Drops a recipient whose address was suppressed after the mail was accepted (specification 1). */
async function dropSuppressed(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  now: number,
): Promise<void> {
  const patch = { state: 'suppressed', dueAt: null, runId: null, diagnostic: SUPPRESSED } as const;
  await changeRecipient(tx, message, recipient, patch, {
    now,
    event: { type: 'email.suppressed', details: {} },
  });
}

function isDue({ state, dueAt }: RecipientRow, now: number): boolean {
  return (state === 'ready' || state === 'deferred') && dueAt !== null && dueAt <= now;
}
