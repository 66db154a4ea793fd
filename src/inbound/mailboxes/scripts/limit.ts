/**
 * Limits what the scripts of a mailbox send. Strangers decide how much mail comes, and can decide where a script sends it, so it has limits
 * of its own beside those of what the owner submits: nobody can use them up for the owner, nor send spam to the world by the mailbox.
 */
import type { MailboxRow } from '../../../db/mailbox-tables.ts';
import type { Tx } from '../../../db/operation.ts';
import { type MemoryKind, memoryKey } from '../../../mailboxes/scripts/memory-key.ts';
import { claimMemory, countMemories, MAX_MEMORIES } from '../../../mailboxes/scripts/memory-store.ts';
import { DAY_MS } from '../../../system/clock.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';
import { limitRedirects, type Outgoing, type Plan, planAfterFailure } from './plan.ts';

type SentKind = Extract<MemoryKind, 'sent' | 'notified'>;

/** Returns the limit that counts something which is sent. */
export function limitOf(kind: Outgoing['kind']): SentKind {
  return kind === 'notify' ? 'notified' : 'sent';
}

/**
 * Returns what may be done of a plan. Mail that looks like spam is kept, and causes no other mail than its refusal. A mailbox that has sent
 * on too much within 24 hours keeps the message, and its owner is told as if the script had failed.
 */
export async function withinLimits(
  app: ScriptApp,
  { mailbox, message }: Pick<ScriptedDelivery, 'mailbox' | 'message'>,
  { plan, script }: { plan: Plan; script: string },
): Promise<Plan> {
  if (plan.outgoing.length === 0) return plan;
  if (message.flagged === 1) {
    const kept = limitRedirects(plan, 0);
    return { ...kept, outgoing: kept.outgoing.filter(({ kind }) => kind === 'reject') };
  }
  const hasSpaceFor = async (limit: SentKind) => {
    const sent = plan.outgoing.filter(({ kind }) => limitOf(kind) === limit).reduce(addRecipients, 0);
    const used = await countMemories(app.db.read, {
      mailboxId: mailbox.id,
      kind: limit,
      now: app.clock.now(),
    });
    return used + sent <= MAX_MEMORIES[limit];
  };
  if (!(await hasSpaceFor('sent'))) {
    const problem = `it sends to more than ${MAX_MEMORIES.sent} recipients a day`;
    return planAfterFailure({ script, line: 0, message: problem });
  }
  if (await hasSpaceFor('notified')) return plan;
  return { ...plan, outgoing: plan.outgoing.filter(({ kind }) => kind !== 'notify') };
}

function addRecipients(sum: number, action: Outgoing): number {
  return sum + (action.kind === 'notify' ? action.to.length + action.cc.length : 1);
}

type Sending = {
  mailboxId: MailboxRow['id'];
  claimedBy: string;
  now: number;
  limit: SentKind;
  messageId: string;
  recipients: number;
};

/** Counts the recipients of a message as part of the write that queues it. Returns false when they are too many. */
export async function countRecipients(
  tx: Tx,
  { limit, messageId, recipients, ...claimant }: Sending,
): Promise<boolean> {
  for (let position = 0; position < recipients; position++) {
    const key = memoryKey(limit, messageId, `${position}`);
    if (!(await claimMemory(tx, { ...claimant, key, expiresAt: claimant.now + DAY_MS }))) return false;
  }
  return true;
}
