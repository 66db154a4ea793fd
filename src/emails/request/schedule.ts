/** When an email is to leave (specification 4.1 scheduledAt, api.md 1.2), and until when it is worth trying. */
import type { Config } from '../../config.ts';
import { parseTimestamp } from '../../system/clock.ts';
import { invalid } from '../../system/errors.ts';
import type { EmailType } from '../schemas.ts';

export type Schedule = {
  /** What was asked for; null: at once. */
  scheduledAt: number | null;
  /** When it is really to leave. */
  datedAt: number;
};

const HOUR_MS = 3_600_000;
/** api.md 1.2: not worth a schedule. */
const SOON_MS = 10_000;
/** api.md 1.2: one year; the longest there is. */
const FURTHEST_MS = 366 * 24 * HOUR_MS;

/** A time that has passed, or is as good as here, is now. @throws AppError validation_error */
export function readSchedule(scheduledAt: string | undefined, now: number): Schedule {
  if (scheduledAt === undefined) return { scheduledAt: null, datedAt: now };
  const asked = parseTimestamp(scheduledAt);
  if (asked === undefined) {
    throw invalid(
      'scheduledAt',
      '`scheduledAt` must be an ISO 8601 time with an offset, such as 2030-01-31T09:00:00Z',
    );
  }
  if (asked > now + FURTHEST_MS) throw invalid('scheduledAt', '`scheduledAt` must be at most one year ahead');
  return { scheduledAt: asked, datedAt: asked < now + SOON_MS ? now : asked };
}

/** How long after its date delivery is tried. */
export function maxAgeMs(config: Pick<Config, 'delivery'>, type: EmailType): number {
  const { transactionalMaxAgeHours, broadcastMaxAgeHours } = config.delivery;
  return (type === 'broadcast' ? broadcastMaxAgeHours : transactionalMaxAgeHours) * HOUR_MS;
}
