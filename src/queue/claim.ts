/**
 * Taking mail for delivery. The claim counts the attempt and is durable before anything is sent, so that after a crash
 * every mail that may have left is known (engine.md 4, crash matrix).
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

/** One transaction: a message and those of its recipients that go to the same site. */
export type Delivery = { message: SpooledMessage; recipients: RecipientRow[] };

export type Claim = {
  now: number;
  runId: string;
  /** On the monotonic clock of this start, so that a wall clock that jumps ahead ends no lease (security.md 3). */
  leasedUntil: number;
  messageIds: readonly string[];
  /** Recipients in these queues are taken: those that lead to the same site. */
  queues: readonly string[];
};

/** Longer than a delivery may take (DELIVERY_DEADLINE_MS), so that nothing is run twice at the same time. */
export const LEASE_MS = 60 * 60_000;
/** RFC 5321 4.5.3.1.8: a server must take 100 recipients; Postfix sends 50 at a time. */
const RECIPIENTS_PER_TRANSACTION = 50;

export function leaseFrom(elapsedMs: number): number {
  return Math.round(elapsedMs) + LEASE_MS;
}

/** Of each message what is due in the queues; a message of which nothing is due any more is left out. */
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
    // decisions.md 16: `email.sent` is the first claim, once for each recipient.
    const event = attempts === 1 ? { event: { type: 'email.sent', details: {} } as const } : {};
    await changeRecipient(tx, message, recipient, patch, { now, ...event });
    taken.push(recipient);
  }
  await refreshStatus(tx, message, all);
  return taken.length > 0 ? { message, recipients: taken } : undefined;
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
  const patch = { state: 'suppressed', dueAt: null, runId: null, diagnostic: SUPPRESSED } as const;
  await changeRecipient(tx, message, recipient, patch, {
    now,
    event: { type: 'email.suppressed', details: {} },
  });
}

function isDue({ state, dueAt }: RecipientRow, now: number): boolean {
  return (state === 'ready' || state === 'deferred') && dueAt !== null && dueAt <= now;
}
