/** The events that a change of a recipient records. The simulator adds feedback, such as a complaint, to a delivery. */

import type { Counter, Tally } from '../../counts/tally.ts';
import type { Tx } from '../../db/operation.ts';
import type { MessageRow } from '../../db/tables.ts';
import { type EventType, recordEvent } from '../../events/store.ts';
import { isoTime } from '../../system/clock.ts';
import { newId } from '../../system/ids.ts';
import type { SimulatedFeedback } from '../outcome/outcome.ts';

export type RecipientEvent = {
  type: EventType;
  details: object;
  /** Counters of `GET /v1/metrics` that the event increments. */
  counters: readonly Counter[];
};

const USER_AGENT = 'Postrider simulator';

/** The meaning of a simulated complaint. A real one has the words of the reply table. */
const COMPLAINT = {
  class: 'complaint',
  advice: 'The reader reported the message as spam. Do not write to this address again.',
};

/** Returns the event of the feedback at `now`, in Unix milliseconds. */
export function feedbackEvent(feedback: SimulatedFeedback, now: number): RecipientEvent {
  const at = isoTime(now);
  const reader = { ip: null, userAgent: USER_AGENT, bot: false, botReason: null };
  switch (feedback) {
    case 'complained': {
      const complaint = { feedbackType: 'abuse', userAgent: USER_AGENT, arrivedAt: at, ...COMPLAINT };
      return { type: 'email.complained', details: { complaint }, counters: ['complained'] };
    }
    case 'opened':
      return {
        type: 'email.opened',
        details: { open: { timestamp: at, ...reader } },
        counters: ['opened', 'uniqueOpened'],
      };
    case 'clicked':
      return {
        type: 'email.clicked',
        details: { click: { timestamp: at, link: 'https://example.com/', ...reader } },
        counters: ['clicked', 'uniqueClicked'],
      };
  }
}

/**
 * Records an email event, and counts it in the tally, which the caller stores in the same write. The data of the event is
 * completed from the email when it is read (`findEvent` in events/store.ts).
 */
export async function recordRecipientEvent(
  tx: Tx,
  message: MessageRow,
  { to, event, at, tally }: { to: string; event: RecipientEvent; at: number; tally: Tally },
): Promise<void> {
  tally.count(message, { to, at, counters: event.counters });
  await recordEvent(tx, {
    id: newId('evt', at),
    tenantId: message.tenantId,
    mode: message.mode,
    type: event.type,
    emailId: message.id,
    createdAt: at,
    data: { to, ...event.details },
  });
}
