/** The events that a change of a recipient records. The simulator adds feedback, such as a complaint, to a delivery. */

import type { EventType } from '../../events/store.ts';
import { isoTime } from '../../system/clock.ts';
import type { SimulatedFeedback } from '../outcome/outcome.ts';

export type RecipientEvent = { type: EventType; details: object };

const USER_AGENT = 'Postrider simulator';

/** Returns the event of the feedback at `now`, in Unix milliseconds. */
export function feedbackEvent(feedback: SimulatedFeedback, now: number): RecipientEvent {
  const at = isoTime(now);
  const reader = { ip: null, userAgent: USER_AGENT, bot: false, botReason: null };
  switch (feedback) {
    case 'complained': {
      const complaint = { feedbackType: 'abuse', userAgent: USER_AGENT, arrivedAt: at };
      return { type: 'email.complained', details: { complaint } };
    }
    case 'opened':
      return { type: 'email.opened', details: { open: { timestamp: at, ...reader } } };
    case 'clicked':
      return {
        type: 'email.clicked',
        details: { click: { timestamp: at, link: 'https://example.com/', ...reader } },
      };
  }
}
