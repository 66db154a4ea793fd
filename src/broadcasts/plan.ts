/** Reads when and how fast a broadcast is to be sent. */
import { MIN_DELAY_MS, readTimeAhead } from '../emails/request/schedule.ts';
import { readAll } from '../http/json/read-fields.ts';
import { type Pace, readPace } from './pace.ts';
import type { BroadcastChange } from './schemas.ts';

/** The plan that a request asks for. Undefined leaves a value as it is, and null clears it. */
export type WantedPlan = {
  /** Time of sending in Unix milliseconds. */
  scheduleAt: number | null | undefined;
  pace: Pace | null | undefined;
};

/**
 * Returns when and how fast a request wants a broadcast to be sent. A time that has passed, or comes within ten seconds, means
 * now, as for emails.
 * @throws AppError validation_error naming the field
 */
export function readPlan({ scheduleAt, pace }: BroadcastChange, now: number): WantedPlan {
  return readAll({
    scheduleAt: () => {
      if (typeof scheduleAt !== 'string') return scheduleAt;
      const asked = readTimeAhead('scheduleAt', scheduleAt, now);
      return asked < now + MIN_DELAY_MS ? now : asked;
    },
    pace: () => (pace ? readPace(pace, now) : pace),
  });
}
