/**
 * Makes copies of a broadcast for the contacts that wait in its ledger. One write makes a number of them completely:
 * message, recipient, email, events, ledger and counts. Each contact is checked once more right before.
 */
import { findContact } from '../audiences/contacts/store.ts';
import { storeTally } from '../counts/store.ts';
import { Tally } from '../counts/tally.ts';
import type { BroadcastCountsRow, BroadcastRecipientRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { ContactRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { findSendingDomain } from '../domains/sending-store.ts';
import { maySend } from '../domains/states.ts';
import { hasCopyFor, insertEmail } from '../emails/store.ts';
import { MAX_UNTRIED } from '../ledger/outcome.ts';
import { getRun, patchRun } from '../ledger/run-store.ts';
import {
  findBroadcastStatus,
  getCounts,
  type LedgerDecision,
  listInState,
  settleWaiting,
} from '../ledger/store.ts';
import { addressKey } from '../mail/address.ts';
import { deleteUnusedContent } from '../queue/contents/store.ts';
import { CONTACT_DELETED, findExclusions } from '../queue/exclusions.ts';
import { queueKeyOf } from '../queue/queue-key.ts';
import { recordRecipientEvent } from '../queue/state/recipient-event.ts';
import { enqueue } from '../queue/store.ts';
import { DAY_MS } from '../system/clock.ts';
import { completeTask, type Lease, retryTask, type TaskEnd } from '../tasks/store.ts';
import { chargeQuota, remainingQuota } from '../tenants/quota.ts';
import { buildCopy, type Copy } from './build-copy.ts';
import { type Frozen, frozenOf } from './frozen.ts';
import { type Pace, planCopies } from './pace.ts';
import { changeStatus } from './runs/state.ts';

/** Counts that the rates follow from. */
type HealthCounts = Pick<BroadcastCountsRow, 'sent' | 'bouncedPermanently' | 'complained'>;

/** Number of attempted copies from which the rates are evaluated. A few bounces of a few copies mean nothing. */
const MIN_ATTEMPTED_COPIES = 500;
/** Maximum share of copies that bounce for good. Large receivers and providers act at about this share. */
const MAX_BOUNCE_RATE = 0.05;
/** Maximum share of copies that are reported as spam (Gmail's and Yahoo's rules for bulk senders). */
const MAX_COMPLAINT_RATE = 0.003;

type BroadcastId = BroadcastRunRow['broadcastId'];

type Step = {
  broadcastId: BroadcastId;
  now: number;
  maxAgeMs: number;
  /** Maximum number of copies that the step makes. */
  maxCopies: number;
};

/** The result of a step. */
type Stepped = {
  /** Keys of the delivery queues that have got mail. */
  queues: string[];
  /** Status of the broadcast, when the step has changed it, and why it was paused. */
  end?: { status: 'sent' } | { status: 'paused'; reason: BroadcastRunRow['pausedReason'] };
  /** Time of the next step; null when there is none, or only the outcome of a copy brings more to do (`concernsRun`). */
  dueAt: number | null;
};

/**
 * Makes the next copies of a broadcast that is being sent, as its pace allows, and settles the task with the time of the next
 * step. The broadcast is paused when too many copies bounced or were reported as spam, without quota, and when its domain may not
 * send. It ends when nobody waits and every copy was attempted; copies that were deferred are still retried.
 */
export const makeCopies = defineWrite(
  'broadcasts.copy',
  async (tx, { lease, ...step }: Step & { lease: Lease }): Promise<Stepped & { task: TaskEnd }> => {
    const stepped = await takeStep(tx, step);
    const { dueAt } = stepped;
    const settle = () =>
      dueAt === null ? completeTask.run(tx, lease) : retryTask.run(tx, { lease, dueAt, attempts: 0 });
    return { ...stepped, task: await settle() };
  },
  {
    priority: 'bulk',
    crashPoints: { beforeCommit: 'broadcast-copy-before-commit', afterCommit: 'broadcast-copy-after-commit' },
  },
);

async function takeStep(tx: Tx, { broadcastId, ...step }: Step): Promise<Stepped> {
  if ((await findBroadcastStatus(tx, broadcastId)) !== 'sending') return { queues: [], dueAt: null };
  const run = await getRun(tx, broadcastId);
  const { now } = step;
  const broadcast = { id: broadcastId, tenantId: run.tenantId, status: 'sending' } as const;
  const copied = await copyNext(tx, run, step);
  if (typeof copied === 'string') {
    await changeStatus(tx, broadcast, { cause: 'paused', reason: copied, now });
    return { queues: [], end: { status: 'paused', reason: copied }, dueAt: null };
  }
  const counts = await getCounts(tx, broadcastId);
  if (isComplete(run, counts)) {
    await changeStatus(tx, broadcast, { cause: 'ended', now });
    // A broadcast without copies leaves its content behind.
    if (run.contentId !== null) await deleteUnusedContent(tx, run.contentId);
    return { queues: [], end: { status: 'sent' }, dueAt: null };
  }
  const { nextCopyAt, queues } = copied;
  await patchRun(tx, broadcastId, { nextCopyAt });
  return { queues, dueAt: nextStepAt({ ...run, nextCopyAt }, counts, now) };
}

/** Returns true when a broadcast has nothing left to send. Parked copies have no time of their next attempt, so they count. */
function isComplete(
  { walkedAt, passAfter }: Pick<BroadcastRunRow, 'walkedAt' | 'passAfter'>,
  { waiting, untried }: Pick<BroadcastCountsRow, 'waiting' | 'untried'>,
): boolean {
  return walkedAt !== null && passAfter === null && waiting === 0 && untried === 0;
}

function nextStepAt(
  { walkedAt, passAfter, nextCopyAt }: Pick<BroadcastRunRow, 'walkedAt' | 'passAfter' | 'nextCopyAt'>,
  { waiting, untried }: Pick<BroadcastCountsRow, 'waiting' | 'untried'>,
  now: number,
): number | null {
  if (walkedAt === null || passAfter !== null) return now;
  if (waiting === 0 || untried >= MAX_UNTRIED) return null;
  return Math.max(now, nextCopyAt ?? now);
}

type Copied = Pick<BroadcastRunRow, 'nextCopyAt'> & Pick<Stepped, 'queues'>;

/** Makes copies for contacts that wait, or returns why the broadcast must pause. */
async function copyNext(
  tx: Tx,
  run: BroadcastRunRow,
  { now, maxAgeMs, maxCopies }: Omit<Step, 'broadcastId'>,
): Promise<Copied | 'bounces' | 'complaints' | 'quota' | 'domain'> {
  const { broadcastId } = run;
  const counts = await getCounts(tx, broadcastId);
  const reason = evaluateHealth(counts, baselineOf(run));
  if (reason) return reason;
  const nothing = { nextCopyAt: run.nextCopyAt, queues: [] };
  const capacity = Math.min(maxCopies, MAX_UNTRIED - counts.untried);
  if (counts.waiting === 0 || capacity <= 0) return nothing;
  const frozen = frozenOf(run);
  const allowed = await findAllowance(tx, run, { frozen, now });
  if (typeof allowed === 'string') return allowed;
  const { copies: limit, nextCopyAt } = planCopies({
    pace: run.pace === null ? null : (JSON.parse(run.pace) as Pace),
    nextCopyAt: run.nextCopyAt,
    now,
    waiting: counts.waiting,
    limit: Math.min(capacity, allowed),
  });
  if (limit === 0) return { ...nothing, nextCopyAt };
  const waiting = await listInState(tx, { broadcastId, state: 'waiting', after: '', limit });
  return { nextCopyAt, queues: await copyEach(tx, run, { frozen, waiting, now, maxAgeMs }) };
}

function baselineOf({ judgedFrom }: BroadcastRunRow): HealthCounts | undefined {
  return judgedFrom === null ? undefined : (JSON.parse(judgedFrom) as HealthCounts);
}

/** Returns how many copies the quota allows, or why the broadcast must pause. Test mail is free and needs no domain. */
async function findAllowance(
  tx: Tx,
  { tenantId, mode }: BroadcastRunRow,
  { frozen: { domainId }, now }: { frozen: Frozen; now: number },
): Promise<number | 'domain' | 'quota'> {
  if (domainId !== null) {
    const domain = await findSendingDomain(tx, domainId);
    if (!domain || !maySend(domain, now)) return 'domain';
  }
  if (mode === 'test') return Number.POSITIVE_INFINITY;
  const remaining = await remainingQuota(tx, tenantId, now);
  return remaining === 0 ? 'quota' : remaining;
}

type Batch = {
  frozen: Frozen;
  waiting: readonly BroadcastRecipientRow[];
  now: number;
  maxAgeMs: number;
};

/** Copies the broadcast for each contact that may get it. Returns the queues of the copies. */
async function copyEach(
  tx: Tx,
  run: BroadcastRunRow,
  { frozen, waiting, now, maxAgeMs }: Batch,
): Promise<string[]> {
  const { broadcastId, tenantId, mode } = run;
  const decisions: LedgerDecision[] = [];
  const queues = new Set<string>();
  const tally = new Tally();
  for (const row of waiting) {
    const contact = await findContact(tx, tenantId, {
      audienceId: frozen.audienceId,
      idOrAddress: row.contactId,
    });
    const refused = await findRefusal(tx, run, { contact, topicId: frozen.topicId, now });
    const copy = refused ?? buildCopy(run, { frozen, contact, row, now, maxAgeMs });
    if ('email' in copy) {
      await storeCopy(tx, copy, tally);
      queues.add(queueKeyOf(copy.message, copy.recipient.domain));
    }
    decisions.push({
      contactId: row.contactId,
      address: contact?.address ?? row.address,
      ...decisionOf(copy),
    });
  }
  await storeTally(tx, tally);
  await settleWaiting(tx, { broadcastId, now }, decisions);
  const emails = decisions.filter(({ state }) => state === 'queued').length;
  if (mode === 'live' && emails > 0) await chargeQuota(tx, tenantId, { now, emails });
  return [...queues];
}

type Refusal = { state: Exclude<LedgerDecision['state'], 'queued'>; reason: string };

/** Returns why a contact gets no copy, or undefined when it does. */
async function findRefusal(
  tx: Tx,
  { broadcastId, tenantId, mode, startedAt }: BroadcastRunRow,
  { contact, topicId, now }: { contact: ContactRow | undefined; topicId: Frozen['topicId']; now: number },
): Promise<Refusal | undefined> {
  if (!contact) return { state: 'canceled', reason: CONTACT_DELETED };
  const { address } = contact;
  const question = { kind: 'broadcast', topicId, addresses: [address] } as const;
  const exclusion = (await findExclusions(tx, tenantId, question)).get(addressKey(address));
  if (exclusion) return exclusion;
  const isTaken = await hasCopyFor(tx, {
    broadcastId,
    tenantId,
    mode,
    address,
    // The clock may have been set back since the start.
    since: Math.min(startedAt ?? 0, now) - DAY_MS,
  });
  return isTaken
    ? { state: 'canceled', reason: 'Another contact with this address got the broadcast' }
    : undefined;
}

async function storeCopy(tx: Tx, { message, recipient, email }: Copy, tally: Tally): Promise<void> {
  await enqueue(tx, message, [recipient]);
  await insertEmail(tx, email, { tags: [], addresses: [addressKey(recipient.address)] });
  const event = { type: 'email.queued', details: {}, counters: ['accepted'] } as const;
  await recordRecipientEvent(tx, message, { to: recipient.address, event, at: message.createdAt, tally });
}

function decisionOf(copy: Copy | Refusal): Pick<LedgerDecision, 'state' | 'emailId' | 'reason'> {
  if ('email' in copy)
    return { state: 'queued', emailId: copy.email.id satisfies EmailRow['id'], reason: null };
  return { ...copy, emailId: null };
}

/**
 * Returns why a broadcast must be paused, or undefined when it may go on. `since` are the counts at the last resume:
 * whoever resumes has accepted what happened before, so only what comes later is evaluated, again from 500 copies on.
 * Receivers judge a sender by these rates, so sending on would harm all later mail.
 */
export function evaluateHealth(
  counts: HealthCounts,
  since: HealthCounts | undefined,
): Extract<BroadcastRunRow['pausedReason'], 'bounces' | 'complaints'> | undefined {
  const sent = counts.sent - (since?.sent ?? 0);
  if (sent < MIN_ATTEMPTED_COPIES) return undefined;
  const bounced = counts.bouncedPermanently - (since?.bouncedPermanently ?? 0);
  if (bounced / sent > MAX_BOUNCE_RATE) return 'bounces';
  const complained = counts.complained - (since?.complained ?? 0);
  return complained / sent > MAX_COMPLAINT_RATE ? 'complaints' : undefined;
}
