/**
 * Puts mail back into the queue that a crash left in flight. It runs at the start of the daemon, and for leases that
 * expired during this start.
 */

import type { Db } from '../../db/database.ts';
import { inSlices, type SetBack } from '../../db/due-times.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { insertAttempt } from '../attempts-store.ts';
import { findMailPart, getMail } from '../mail-store.ts';
import { MAX_RETRY_DELAY_MS } from '../retry-schedule.ts';
import { type DueRow, listAbandoned, moveDueRecipients } from '../store.ts';
import { type Change, changeEach, changeRecipients } from './change.ts';
import { type HeldRecipient, heldRecipient } from './hold.ts';
import { MAX_INTERRUPTIONS } from './suspect.ts';
import type { Transition } from './transition.ts';

/** Recovered mail becomes due evenly over this time, so that it does not all leave in the first second. */
const RECOVERY_SPREAD_MS = 5_000;

const INTERRUPTED = `The daemon ended during ${MAX_INTERRUPTIONS} attempts to deliver this; an operator can release it`;

type Recovered = {
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
    const spreadMs = RECOVERY_SPREAD_MS / abandoned.length;
    const dueAt = new Map(abandoned.map(({ id }, index) => [id, now + Math.round(spreadMs * index)]));
    const held: HeldRecipient[] = [];
    for (const messageId of new Set(abandoned.map((recipient) => recipient.messageId)))
      held.push(...(await recoverMessage(tx, messageId, { now, dueAt })));
    return { retried: abandoned.length - held.length, held };
  },
);

/** Puts back the recipients of the message that have a new time in `dueAt`. Returns those that are held instead. */
async function recoverMessage(
  tx: Tx,
  messageId: string,
  { now, dueAt }: { now: number; dueAt: ReadonlyMap<RecipientRow['id'], number> },
): Promise<HeldRecipient[]> {
  const mail = await getMail(tx, messageId);
  const changes: Change[] = [];
  const held: HeldRecipient[] = [];
  for (const recipient of mail.recipients) {
    const retriedAt = dueAt.get(recipient.id);
    if (retriedAt === undefined) continue;
    await insertAttempt(tx, recipient, interruptedAttempt(now));
    const transition = afterInterruption(recipient, retriedAt);
    changes.push({ recipient, transition });
    if (transition.cause === 'held') held.push(heldRecipient(mail.message, recipient, transition));
  }
  await changeRecipients(tx, mail, { now, changes });
  return held;
}

function afterInterruption(
  { interruptedAttempts }: RecipientRow,
  dueAt: number,
): Extract<Transition, { cause: 'held' | 'interrupted' }> {
  return interruptedAttempts + 1 >= MAX_INTERRUPTIONS
    ? { cause: 'held', reason: 'interrupted', diagnostic: INTERRUPTED }
    : { cause: 'interrupted', dueAt };
}

function interruptedAttempt(now: number) {
  return {
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

type Release = {
  now: number;
  runId: string;
  /** Recipients that are claimed and not being sent to. */
  claims: readonly { messageId: string; recipientIds: readonly RecipientRow['id'][] }[];
};

/**
 * Makes claimed recipients due again that are not being sent to. Their attempt stays counted, because `email.sent` has
 * already reported it. Returns the number of recipients.
 */
export const releaseUnsent = defineWrite(
  'queue.release',
  async (tx, { now, runId, claims }: Release): Promise<number> => {
    let released = 0;
    for (const { messageId, recipientIds } of claims) {
      const mail = await findMailPart(tx, messageId, { by: 'id', names: recipientIds });
      if (!mail) continue;
      released += await changeEach(tx, mail, {
        now,
        transitionOf: (recipient) =>
          recipient.state === 'in_flight' && recipient.runId === runId
            ? { cause: 'unsent', dueAt: now }
            : undefined,
      });
    }
    return released;
  },
);

/** Moves the due times of retries after the wall clock was set back. Scheduled mail keeps its time. */
export async function moveQueue(db: Db, setBack: SetBack): Promise<void> {
  const { now, setBackMs } = setBack;
  const until = now + setBackMs + MAX_RETRY_DELAY_MS;
  await inSlices<DueRow>({ id: 'rcp_', dueAt: now }, (after) =>
    db.commit(moveDueRecipients, { ...setBack, after, until: Math.round(until) }),
  );
}
