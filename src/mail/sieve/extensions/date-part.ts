/** Parts of a date, as texts (RFC 5260 section 4.2). */
import type { ZonedDate } from '../../mime/date.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Modified Julian Day of the first day of 1970. */
const EPOCH_JULIAN_DAY = 40_587;

/** The time of the zone, as if it were UTC. */
type LocalDate = { time: Date; zoneMinutes: number };

const two = (number: number) => String(number).padStart(2, '0');
const four = (number: number) => String(number).padStart(4, '0');

const year = ({ time }: LocalDate) => four(time.getUTCFullYear());
const month = ({ time }: LocalDate) => two(time.getUTCMonth() + 1);
const day = ({ time }: LocalDate) => two(time.getUTCDate());
const hour = ({ time }: LocalDate) => two(time.getUTCHours());
const minute = ({ time }: LocalDate) => two(time.getUTCMinutes());
const second = ({ time }: LocalDate) => two(time.getUTCSeconds());
const date = (local: LocalDate) => `${year(local)}-${month(local)}-${day(local)}`;
const clock = (local: LocalDate) => `${hour(local)}:${minute(local)}:${second(local)}`;

function zone({ zoneMinutes }: LocalDate, separator = ''): string {
  const minutes = Math.abs(zoneMinutes);
  return `${zoneMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${separator}${two(minutes % 60)}`;
}

/** An offset of zero is `Z` (RFC 5260 section 4.2). */
function iso8601(local: LocalDate): string {
  return `${date(local)}T${clock(local)}${local.zoneMinutes === 0 ? 'Z' : zone(local, ':')}`;
}

/** Returns a date of RFC 5322 section 3.3. */
function std11(local: LocalDate): string {
  return local.time.toUTCString().replace('GMT', zone(local));
}

const PARTS: Readonly<Record<string, (local: LocalDate) => string>> = {
  year,
  month,
  day,
  date,
  julian: ({ time }) => String(Math.floor(time.getTime() / DAY_MS) + EPOCH_JULIAN_DAY),
  hour,
  minute,
  second,
  time: clock,
  iso8601,
  std11,
  zone: (local) => zone(local),
  weekday: ({ time }) => String(time.getUTCDay()),
};

/** Returns true for the name of a part in lower case. */
export function isDatePart(name: string): boolean {
  return Object.hasOwn(PARTS, name);
}

/** Returns a part of a date in its zone; an empty text when there is no such part. */
export function datePart(name: string, { at, zoneMinutes }: ZonedDate): string {
  return PARTS[name]?.({ time: new Date(at + zoneMinutes * MINUTE_MS), zoneMinutes }) ?? '';
}
