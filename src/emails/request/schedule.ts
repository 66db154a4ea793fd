/** Reads the time at which an email is sent (specification 4.1 scheduledAt), and defines how long it is retried. */
import type { Config } from '../../config/config.ts';
import { parseTimestamp } from '../../system/clock.ts';
import { invalid } from '../../system/errors.ts';
import type { EmailType } from '../schemas.ts';

export type Schedule = {
  /** Requested time in Unix milliseconds; null for an email that is sent at once. */
  scheduledAt: number | null;
  /** Time of the first delivery attempt, in Unix milliseconds. */
  datedAt: number;
};

const HOUR_MS = 3_600_000;
/** A requested time that is closer than this counts as now. */
export const MIN_DELAY_MS = 10_000;
/** Maximum time that mail can be scheduled ahead: one year, which may be a leap year. */
const MAX_DELAY_MS = 366 * 24 * HOUR_MS;

/**
 * Returns the schedule of an email. A time in the past, or within the next ten seconds, counts as now.
 * @throws AppError validation_error
 */
export function readSchedule(scheduledAt: string | undefined, now: number): Schedule {
  if (scheduledAt === undefined) return { scheduledAt: null, datedAt: now };
  const asked = readTimeAhead('scheduledAt', scheduledAt, now);
  return { scheduledAt: asked, datedAt: asked < now + MIN_DELAY_MS ? now : asked };
}

/**
 * Returns a time of a request in Unix milliseconds. It may have passed.
 * @throws AppError validation_error naming `path`, also for a time that is more than a year ahead
 */
export function readTimeAhead(path: string, text: string, now: number): number {
  const asked = parseTimestamp(text);
  if (asked === undefined)
    throw invalid(path, `\`${path}\` must be an ISO 8601 time with an offset, such as 2030-01-31T09:00:00Z`);
  if (asked > now + MAX_DELAY_MS) throw invalid(path, `\`${path}\` must be at most one year ahead`);
  return asked;
}

/** Returns how long after its date an email is attempted, in milliseconds. */
export function maxAgeMs(config: Pick<Config, 'delivery'>, type: EmailType): number {
  const { transactionalMaxAgeHours, broadcastMaxAgeHours } = config.delivery;
  return (type === 'broadcast' ? broadcastMaxAgeHours : transactionalMaxAgeHours) * HOUR_MS;
}
