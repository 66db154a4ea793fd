/** Says which events are steps of urgent mail on its way to a session. */
import type { ScheduleEvent } from './events.ts';
import { isUrgent } from './queue-order.ts';

/** Returns true when urgent mail is due or is claimed. Its next step follows within milliseconds. */
export function concernsUrgent(event: ScheduleEvent): boolean {
  if (event.kind === 'due') return event.queues.some(({ band }) => isUrgent(band));
  return event.kind === 'claimed' && event.mail.some(({ band }) => isUrgent(band));
}
