/** Reads the times of Resend's API: ISO 8601, or words such as "in 5 minutes". */
import { isoTime, parseTimestamp } from '../../system/clock.ts';
import { invalid } from '../../system/errors.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Lengths of the units of time that are accepted, in milliseconds. */
const UNITS: ReadonlyMap<string, number> = new Map(
  (
    [
      [['minute', 'minutes', 'min', 'mins', 'm'], MINUTE_MS],
      [['hour', 'hours', 'hr', 'hrs', 'h'], HOUR_MS],
      [['day', 'days', 'd'], 24 * HOUR_MS],
    ] as const
  ).flatMap(([names, ms]) => names.map((name) => [name, ms] as const)),
);
const RELATIVE = /^in\s+(\d{1,6}|an?)\s*([a-z]+)$/i;

/**
 * Returns the time that `scheduled_at` names, in ISO 8601.
 * @throws AppError validation_error for any other text: mail is never sent at a time that was not asked for
 */
export function readScheduledAt(value: unknown, now: number): string {
  const text = typeof value === 'string' ? value.trim() : '';
  if (parseTimestamp(text) !== undefined) return text;
  const [, count = '', unit = ''] = RELATIVE.exec(text) ?? [];
  const unitMs = UNITS.get(unit.toLowerCase());
  if (unitMs === undefined)
    throw invalid(
      'scheduled_at',
      '`scheduled_at` must be an ISO 8601 time with an offset, such as 2030-01-31T09:00:00Z, or a number of minutes, hours or days from now, such as `in 10 minutes`',
    );
  return isoTime(now + (/^an?$/i.test(count) ? 1 : Number(count)) * unitMs);
}
