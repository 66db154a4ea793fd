/** Reads dates (RFC 9051 section 9, `date` and `date-time`). */
import { bad } from '../command-error.ts';
import type { InternalDate } from '../session.ts';
import type { Cursor } from './cursor.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY = /^ ?(\d{1,2})-([a-z]{3})-(\d{4})$/i;
const DATE_TIME = /^ ?(\d{1,2}-[a-z]{3}-\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/i;
const MINUTE_MS = 60_000;

/** Returns a day such as `1-Feb-2026` as YYYY-MM-DD. */
export function parseDay(cursor: Cursor): string {
  return isoDay(midnight(cursor.isAtQuote ? cursor.string() : cursor.atom()));
}

/** Returns a quoted time such as `" 1-Feb-2026 08:30:00 +0100"`. */
export function parseDateTime(cursor: Cursor): InternalDate {
  const text = cursor.string();
  const [, day = '', hour, minute, second, sign, zoneHour, zoneMinute] = DATE_TIME.exec(text) ?? malformed();
  const ms = midnight(day) + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
  const isOnClock = Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60;
  if (!isOnClock || Number(zoneHour) >= 24 || Number(zoneMinute) >= 60) malformed();
  const zoneMinutes = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1);
  // The sign of zero is lost here, since deepEqual and databases tell -0 from 0.
  return { atMs: ms - zoneMinutes * MINUTE_MS, zoneMinutes: zoneMinutes || 0 };
}

/** Returns the first millisecond of a day in UTC. */
function midnight(text: string): number {
  const [, day, month = '', year] = DAY.exec(text) ?? malformed();
  const date = new Date(Date.UTC(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day)));
  const isOnCalendar = date.getUTCDate() === Number(day) && date.getUTCFullYear() === Number(year);
  return isOnCalendar && MONTHS.includes(month.toLowerCase()) ? date.getTime() : malformed();
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function malformed(): never {
  return bad('The date is malformed, or is not in the calendar');
}
