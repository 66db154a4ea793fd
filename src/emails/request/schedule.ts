/** When an email is to leave (specification 4.1 scheduledAt, api.md 1.2), and until when it is worth trying. */
import type { Config } from '../../config.ts';
import { invalid } from '../../system/errors.ts';
import type { EmailType } from '../schemas.ts';

export type Schedule = {
  /** What was asked for; null: at once. */
  scheduledAt: number | null;
  /** When it is really to leave. */
  datedAt: number;
};

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** api.md 1.2: not worth a schedule. */
const SOON_MS = 10_000;
/** api.md 1.2: one year; the longest there is. */
const FURTHEST_MS = 366 * 24 * HOUR_MS;

/** ISO 8601 as RFC 3339 5.6 profiles it, with what else ISO lets be left out: seconds, and minutes of the offset. */
const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/;

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

/** Epoch milliseconds; undefined for what is no such time, the 30th of February among it. */
export function parseTimestamp(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const [fraction = '', sign, offsetHour = 0, offsetMinute = 0] = [
    match[7],
    match[8],
    Number(match[9] ?? 0),
    Number(match[10] ?? 0),
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Math.floor(Number(`0.${fraction || 0}`) * 1000));
  const isOnCalendar = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const isOnClock = hour < 24 && minute < 60 && second < 60 && offsetHour < 24 && offsetMinute < 60;
  if (!isOnCalendar || !isOnClock) return undefined;
  const offsetMs = offsetHour * HOUR_MS + offsetMinute * MINUTE_MS;
  return date.getTime() - (sign === '-' ? -offsetMs : offsetMs);
}
