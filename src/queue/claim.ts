/**
 * Claims mail for delivery. A claim counts the attempt and is durable before anything is sent, so that after a crash
 * the daemon knows all mail that may have been sent.
 */
import { findAddressOf } from '../audiences/contacts/store.ts';
import { wakeAfterCommit } from '../db/commit-wakeups.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { findBroadcastStatus } from '../ledger/store.ts';
import { addressKey } from '../mail/address.ts';
import { listInactiveTenants } from '../tenants/store.ts';
import { notifyOfBounce } from './bounce.ts';
import { findOrdered, readOrders } from './control/orders.ts';
import type { Conversation } from './conversation/record.ts';
import { listDueInQueue, listRetriesInQueue } from './due-store.ts';
import { CONTACT_DELETED, type Exclusion, findExclusions } from './exclusions.ts';
import { findMailPart } from './mail-store.ts';
import type { Outcome } from './outcome/outcome.ts';
import type { PreparedMessage } from './prepared-message.ts';
import { parseQueueKey } from './queue-key.ts';
import { type Allowance, FirstAttempts } from './sources/warm-up/allowance.ts';
import { findWriterStop } from './state/cancel-submitted.ts';
import { type Change, changeRecipients } from './state/change.ts';
import type { Transition } from './state/transition.ts';
import type { SpooledMessage } from './store.ts';

/** A delivery is the content of one SMTP transaction: a message and those of its recipients that go to one site. */
export type Delivery = { message: SpooledMessage; recipients: RecipientRow[] };

/** The sessions that broke off in the middle of a delivery. */
export type BrokenOff = {
  /** The outcome of the last one, which counts when no other host takes the mail. */
  outcome: Outcome;
  /** The addresses that broke off. This delivery is not tried there again. */
  addresses: readonly string[];
};

/**
 * A claimed delivery that is not settled yet. What its session holds for it, such as a connection slot, stays with the site and is
 * found by `id`.
 */
export type Claim = Delivery & {
  /** Identifies the claim among those of its site. */
  id: number;
  /** The key of the site that the delivery goes to. */
  site: string;
  /** Tenant whose share of the connections the delivery uses: that of the queues that it was found in. */
  scheduledFor: string;
  /** Time of the claim, in milliseconds of the monotonic clock. */
  claimedAt: number;
  /** Number of sessions that took this delivery and put it back. */
  tries: number;
  /** The sessions that broke off in the middle of this delivery. Undefined when none did. */
  brokenOff: BrokenOff | undefined;
  /** The conversation of its sessions so far (conversation/record.ts). */
  conversation: Conversation;
  /**
   * The message as it is sent, once something has asked for it (prepare.ts). It is a field of the claim, because entries of a WeakMap
   * survive scavenges, and every message would become garbage of the old generation.
   */
  prepared: Promise<PreparedMessage> | undefined;
};

type ClaimRequest = {
  now: number;
  runId: string;
  /**
   * Time at which the lease ends, in milliseconds of the monotonic clock of this start. A wall clock that jumps ahead
   * therefore ends no lease.
   */
  leasedUntil: number;
  /** The key of the site that claims. */
  site: string;
  /** Delivery queues in which due mail is looked for, each with the maximum number of its recipients that lead to a message. */
  take: readonly { queue: string; limit: number }[];
  /** Keys of the delivery queues whose recipients are claimed. All of them lead to one site. */
  queues: readonly string[];
  /** Keys of those of the queues whose recipients are claimed only when they were tried before. */
  retriesOnly: readonly string[];
  /** The first attempts that the source of the site may make while it is warmed up; null when it is warm. */
  warmUp: Allowance | null;
};

type Claimed = {
  /** One for each message with claimed recipients. */
  deliveries: Delivery[];
  /** The queues of `take` in which no more mail is due. */
  exhausted: string[];
};

/**
 * Maximum time from the claim to the last reply. It is shorter than the lease, so that a stuck peer never
 * causes two deliveries.
 */
export const DELIVERY_DEADLINE_MS = 45 * 60_000;
/**
 * Length of a lease. It is longer than a delivery may last (DELIVERY_DEADLINE_MS), so that no mail is delivered twice
 * at the same time.
 */
const LEASE_MS = 60 * 60_000;
/**
 * Maximum number of recipients in one SMTP transaction. A server must accept at least 100 (RFC 5321 section 4.5.3.1.8);
 * Postfix sends 50 at a time.
 */
const RECIPIENTS_PER_TRANSACTION = 50;
/** The rules that the operator has set for mail that is due. */
type Rules = {
  /** The actions on the queue (control/orders.ts). */
  orders: Awaited<ReturnType<typeof readOrders>>;
  /** Tenants whose mail is not sent, because they are suspended or being deleted. */
  inactive: ReadonlySet<string>;
  /** The first attempts that the source may make. */
  firstAttempts: FirstAttempts;
};
/** Parked mail is not due until its broadcast or its tenant is resumed. */
const PARKED: Transition = { cause: 'parked' };
/** Each reader of marketing mail gets bytes of their own, with their own link to unsubscribe. */
const READERS_PER_TRANSACTION = 1;

/** Returns the end of a lease that begins at `elapsedMs`. Both are milliseconds of the monotonic clock. */
export function leaseFrom(elapsedMs: number): number {
  return Math.round(elapsedMs) + LEASE_MS;
}

/** Claims the messages that have waited longest in each queue, with their due recipients in all queues of the request. */
export const claimDeliveries = defineWrite(
  'queue.claim',
  async (tx, request: ClaimRequest): Promise<Claimed> => {
    const deliveries: Delivery[] = [];
    const exhausted: string[] = [];
    const orders = await readOrders(tx);
    const inactive = await listInactiveTenants(tx);
    const firstAttempts = await FirstAttempts.open(tx, request);
    const rules = { ...request, orders, inactive, firstAttempts };
    for (const { queue, limit } of request.take) {
      const listDue = firstAttempts.left(queue) > 0 ? listDueInQueue : listRetriesInQueue;
      const found = await listDue(tx, { queue, now: request.now, limit });
      let mayHaveMore = found.length === limit;
      for (const messageId of new Set(found)) {
        const { delivery, hasMore } = await claimMessage(tx, messageId, rules);
        if (delivery) deliveries.push(delivery);
        if (hasMore) mayHaveMore = true;
      }
      // First attempts that the source may no longer make leave from another one, or wait, once the queue is routed again.
      const mayStart = request.retriesOnly.includes(queue) || firstAttempts.left(queue) > 0;
      if (!mayHaveMore && mayStart) exhausted.push(queue);
    }
    await firstAttempts.store(tx);
    return { deliveries, exhausted };
  },
);

/** `hasMore` is true when recipients of the message are due that one transaction has no room for. */
type ClaimedMessage = { delivery: Delivery | undefined; hasMore: boolean };

async function claimMessage(
  tx: Tx,
  messageId: string,
  { now, runId, leasedUntil, queues, site, orders, inactive, firstAttempts }: ClaimRequest & Rules,
): Promise<ClaimedMessage> {
  const mail = await findMailPart(tx, messageId, { by: 'queue', names: queues });
  if (!mail) return { delivery: undefined, hasMore: false };
  const { message } = mail;
  const allDue = mail.recipients.filter((recipient) => isDue(recipient, now));
  const admitted = firstAttempts.admit(allDue);
  const due = admitted.slice(
    0,
    message.kind === 'broadcast' ? READERS_PER_TRANSACTION : RECIPIENTS_PER_TRANSACTION,
  );
  const hasMore = due.length < admitted.length;
  if (due.length === 0) return { delivery: undefined, hasMore };
  const contactAddress = message.contactId === null ? undefined : await findAddressOf(tx, message.contactId);
  const stop = await findStop(tx, message, contactAddress);
  const excluded = stop
    ? new Map<string, Exclusion>()
    : await findExcluded(tx, message, { due, contactAddress });
  const changes = due.map((recipient): Change => {
    const exclusion = excluded.get(addressKey(recipient.address)) ?? excluded.get(contactAddress ?? '');
    const claimed = { cause: 'claimed', runId, leasedUntil } as const;
    const transition =
      stop ??
      (inactive.size > 0 && inactive.has(parseQueueKey(recipient.queue).tenantId) ? PARKED : undefined) ??
      findOrdered(orders, { message, recipient, site }) ??
      (exclusion ? { cause: 'suppressed', ...exclusion } : claimed);
    return { recipient, transition };
  });
  const changed = await changeRecipients(tx, mail, { now, changes });
  await notifyOfBounce(tx, changes, now);
  for (const { transition } of changes)
    if (transition.cause === 'rerouted') wakeAfterCommit('queue', transition.queue);
  const recipients = changed.recipients.filter(({ state }) => state === 'in_flight');
  firstAttempts.count(recipients);
  const delivery = recipients.length > 0 ? { message: changed.message, recipients } : undefined;
  return { delivery, hasMore };
}

/**
 * Returns the change that mail gets instead of a claim. A copy whose broadcast is not being sent is parked while the
 * broadcast is paused, and canceled with it. A broadcast whose copies were all tried is sent, and they may be tried again.
 * The copy of a contact that was deleted is canceled, because its choices were deleted with it. The mail of a person is canceled
 * when the mailbox was deleted or suspended, and what was held when its password was replaced.
 */
async function findStop(
  tx: Tx,
  message: SpooledMessage,
  contactAddress: string | undefined,
): Promise<Transition | undefined> {
  const { broadcastId, contactId, mailboxId } = message;
  if (mailboxId !== null) return findWriterStop(tx, { ...message, mailboxId });
  if (broadcastId === null) return undefined;
  switch (await findBroadcastStatus(tx, broadcastId)) {
    case 'sending':
    case 'sent':
      if (contactId === null || contactAddress !== undefined) return undefined;
      return { cause: 'canceled', diagnostic: CONTACT_DELETED };
    case 'paused':
      return PARKED;
    default:
      return { cause: 'canceled' };
  }
}

/**
 * Returns the excluded addresses of the recipients, and of the contact that a copy is for: its address may have changed
 * since, and its choices with it. Test mail has none, because it is never sent to anybody.
 */
function findExcluded(
  tx: Tx,
  { tenantId, kind, topicId, mode }: SpooledMessage,
  { due, contactAddress }: { due: readonly RecipientRow[]; contactAddress: string | undefined },
): Promise<ReadonlyMap<string, Exclusion>> {
  const readers = due.map((recipient) => recipient.address);
  const isMoved =
    contactAddress !== undefined && !readers.some((reader) => addressKey(reader) === contactAddress);
  const addresses = mode === 'live' ? [...readers, ...(isMoved ? [contactAddress] : [])] : [];
  return findExclusions(tx, tenantId, { kind, topicId, addresses });
}

function isDue({ state, dueAt }: RecipientRow, now: number): boolean {
  return (state === 'ready' || state === 'deferred') && dueAt !== null && dueAt <= now;
}
