/**
 * Makes copies of a broadcast for the contacts that wait in its ledger. One write makes a number of them completely:
 * message, recipient, email, events, ledger and counts. Each contact is judged once more right before.
 */
import { findContact } from '../audiences/contacts/store.ts';
import { storeTally } from '../counts/store.ts';
import { Tally } from '../counts/tally.ts';
import type { BroadcastRecipientRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { ContactRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { findSendingDomain } from '../domains/sending/store.ts';
import { maySend } from '../domains/states.ts';
import { hasCopyFor, insertEmail } from '../emails/store.ts';
import {
  findBroadcastStatus,
  findCounts,
  type LedgerDecision,
  listInState,
  settleWaiting,
} from '../ledger/store.ts';
import { addressKey } from '../mail/address.ts';
import { CONTACT_DELETED, findExclusions } from '../queue/exclusions.ts';
import { queueKeyOf } from '../queue/queue-key.ts';
import { recordRecipientEvent } from '../queue/state/recipient-event.ts';
import { enqueue } from '../queue/store.ts';
import { DAY_MS } from '../system/clock.ts';
import { chargeQuota, remainingQuota } from '../tenants/quota.ts';
import { buildCopy, type Copy } from './build-copy.ts';
import { type Frozen, frozenOf } from './runs/frozen.ts';
import { type Judged, judgeHealth } from './runs/health.ts';
import { type Pace, planCopies } from './runs/pace.ts';
import { changeStatus } from './runs/state.ts';
import { getRun, patchRun } from './runs/store.ts';

type BroadcastId = BroadcastRunRow['broadcastId'];

/** Maximum number of copies that one write makes: about 10 ms of the writer. Our own limit. */
const COPIES_PER_WRITE = 50;
/**
 * Maximum number of copies of a broadcast that wait for their first attempt. A copy shows its contact as it was when the copy was
 * made, so more of them delay the effect of a change. With fewer, the copies for one slow destination can be all of them, and every
 * other reader waits for it. Our own limit.
 */
const MAX_UNTRIED = 10_000;

type Copying = { broadcastId: BroadcastId; now: number; maxAgeMs: number };

type Copied = {
  /** Keys of the delivery queues that have got mail. */
  queues: string[];
  /** True when more copies can be made at once. */
  hasMore: boolean;
  /** Time of the next copy under the pace of the broadcast; null without one. */
  nextCopyAt: number | null;
  /** Why the broadcast was paused instead; null when it was not. */
  pausedReason: BroadcastRunRow['pausedReason'];
};

const NOTHING: Copied = { queues: [], hasMore: false, nextCopyAt: null, pausedReason: null };

/**
 * Makes the next copies of a broadcast that is being sent, as its pace allows. It is paused when too many copies bounced or
 * were reported as spam, without quota, and when its domain may not send.
 */
export const makeCopies = defineWrite(
  'broadcasts.copy',
  async (tx, { broadcastId, now, maxAgeMs }: Copying): Promise<Copied> => {
    if ((await findBroadcastStatus(tx, broadcastId)) !== 'sending') return NOTHING;
    const run = await getRun(tx, broadcastId);
    const frozen = frozenOf(run);
    const counts = await findCounts(tx, broadcastId);
    const room = Math.min(COPIES_PER_WRITE, MAX_UNTRIED - (counts?.untried ?? 0));
    if (!counts) return NOTHING;
    const pause = async (reason: 'bounces' | 'complaints' | 'quota' | 'domain'): Promise<Copied> => {
      await changeStatus(tx, { id: broadcastId, status: 'sending' }, { cause: 'paused', reason, now });
      return { ...NOTHING, pausedReason: reason };
    };
    const reason = judgeHealth(counts, judgedFromOf(run));
    if (reason) return pause(reason);
    if (counts.waiting === 0 || room <= 0) return NOTHING;
    const allowed = await findAllowance(tx, run, { frozen, now });
    if (typeof allowed === 'string') return pause(allowed);
    const { copies: limit, nextCopyAt } = planCopies({
      pace: run.pace === null ? null : (JSON.parse(run.pace) as Pace),
      nextCopyAt: run.nextCopyAt,
      now,
      waiting: counts.waiting,
      limit: Math.min(room, allowed),
    });
    if (nextCopyAt !== run.nextCopyAt) await patchRun(tx, broadcastId, { nextCopyAt });
    if (limit === 0) return { ...NOTHING, nextCopyAt };
    const waiting = await listInState(tx, { broadcastId, state: 'waiting', after: '', limit });
    const queues = await copyEach(tx, run, { frozen, waiting, now, maxAgeMs });
    return {
      queues,
      hasMore: waiting.length === limit && (nextCopyAt ?? now) <= now,
      nextCopyAt,
      pausedReason: null,
    };
  },
  {
    priority: 'bulk',
    crashPoints: { beforeCommit: 'broadcast-copy-before-commit', afterCommit: 'broadcast-copy-after-commit' },
  },
);

function judgedFromOf({ judgedFrom }: BroadcastRunRow): Judged | undefined {
  return judgedFrom === null ? undefined : (JSON.parse(judgedFrom) as Judged);
}

/** Returns how many copies may be made, or why the broadcast must pause. Test mail is free and needs no domain. */
async function findAllowance(
  tx: Tx,
  { tenantId, mode }: BroadcastRunRow,
  { frozen: { domainId }, now }: { frozen: Frozen; now: number },
): Promise<number | 'domain' | 'quota'> {
  if (domainId !== null) {
    const domain = await findSendingDomain(tx, domainId);
    if (!domain || !maySend(domain, now)) return 'domain';
  }
  if (mode === 'test') return COPIES_PER_WRITE;
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
