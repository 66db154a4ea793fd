/**
 * Puts mail back into the queue that a crash left in flight. It runs at the start of the daemon, and for leases that
 * expired during this start.
 */
import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { newId } from '../system/ids.ts';
import { insertAttempt } from './attempts/store.ts';
import { type HeldRecipient, holdRecipient } from './held/hold.ts';
import { MAX_INTERRUPTIONS, releasedDueAt } from './held/suspect.ts';
import { changeRecipient, getMessage, listAbandoned, listRecipients, refreshStatus } from './store.ts';

/** Recovered mail becomes due evenly over this time, so that it does not all leave in the first second. */
const RECOVERY_SPREAD_MS = 5_000;

const INTERRUPTED = `The daemon ended during ${MAX_INTERRUPTIONS} attempts to deliver this; an operator can release it`;

export type Recovered = {
  /** Number of recipients that will be retried. */
  retried: number;
  held: HeldRecipient[];
};

/**
 * Puts back the mail that a crash left in flight. Each recipient gets one more interrupted attempt and is retried, or
 * is held for the operator once the number reaches the maximum. No mail is deleted.
 */
export const recoverAbandoned = defineWrite(
  'queue.recover',
  async (
    tx,
    { now, elapsed, runId }: { now: number; elapsed: number; runId: string },
  ): Promise<Recovered> => {
    const abandoned = await listAbandoned(tx, runId, elapsed);
    const held: HeldRecipient[] = [];
    for (const [index, recipient] of abandoned.entries()) {
      const one = await recover(tx, recipient, {
        now,
        dueAt: now + Math.round((RECOVERY_SPREAD_MS * index) / abandoned.length),
        interruptedAttempts: recipient.interruptedAttempts + 1,
      });
      if (one) held.push(one);
    }
    return { retried: abandoned.length - held.length, held };
  },
);

async function recover(
  tx: Tx,
  recipient: RecipientRow,
  { now, dueAt, interruptedAttempts }: { now: number; dueAt: number; interruptedAttempts: number },
): Promise<HeldRecipient | undefined> {
  const message = await getMessage(tx, recipient.messageId);
  const others = await listRecipients(tx, message.id);
  let held: HeldRecipient | undefined;
  await insertAttempt(tx, interruptedAttempt(recipient, now));
  if (interruptedAttempts >= MAX_INTERRUPTIONS) {
    const hold = { reason: 'interrupted', diagnostic: INTERRUPTED, interruptedAttempts, now } as const;
    held = await holdRecipient(tx, { message, recipient }, hold);
  } else {
    const patch = {
      state: 'ready',
      interruptedAttempts,
      runId: null,
      dueAt: releasedDueAt(interruptedAttempts, dueAt),
    } as const;
    await changeRecipient(tx, message, recipient, patch, { now });
  }
  const all = others.map((other) => (other.id === recipient.id ? recipient : other));
  await refreshStatus(tx, message, all);
  return held;
}

function interruptedAttempt(recipient: RecipientRow, now: number) {
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
