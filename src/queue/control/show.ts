/** The forms in which the control socket answers with recipients and actions. */
import type { QueueActionRow } from '../../db/queue-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { isoTime } from '../../system/clock.ts';
import { timeOfId } from '../../system/ids.ts';
import { parseQueueKey } from '../queue-key.ts';
import { criteriaOf } from './selection.ts';

export type ShownRecipient = ReturnType<typeof showRecipient>;
export type ShownAction = ReturnType<typeof showAction>;

/** Returns a recipient that has not ended. `acceptedAt` is when its email was accepted. Times are ISO 8601. */
export function showRecipient(recipient: RecipientRow) {
  const { tenantId, target } = parseQueueKey(recipient.queue);
  const { state, dueAt } = recipient;
  const hasTime = dueAt !== null && (state === 'ready' || state === 'deferred');
  return {
    emailId: recipient.messageId,
    tenantId,
    mode: recipient.mode,
    to: recipient.address,
    domain: recipient.domain,
    target: target ?? null,
    state,
    attempts: recipient.attempts,
    acceptedAt: isoTime(timeOfId(recipient.id)),
    nextAttemptAt: hasTime ? isoTime(dueAt) : null,
    lastEventAt: isoTime(recipient.lastEventAt),
    smtpCode: recipient.smtpCode,
    class: recipient.class,
    diagnostic: recipient.diagnostic,
    mx: recipient.mx,
  };
}

/** Returns an action. `matched` is the number of recipients when it was made, `changed` that of those that were changed since. */
export function showAction({ createdAt, finishedAt, isInForce, ...action }: QueueActionRow) {
  const { id, verb, reason, target, matched, changed } = action;
  return {
    ...criteriaOf(action),
    id,
    verb,
    reason,
    target,
    matched,
    changed,
    createdAt: isoTime(createdAt),
    finishedAt: finishedAt === null ? null : isoTime(finishedAt),
    isInForce: isInForce === 1,
  };
}
