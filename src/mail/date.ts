/**
 * Reads the dates of reports and of messages: those of RFC 5322 section 3.3, with the names of zones that section 4.3 has, and
 * with comments, seconds and days of the week that may be missing.
 */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Hours east of UTC. Other names have several meanings, and are read as UTC (RFC 5322 section 4.3). */
const ZONE_HOURS: Readonly<Record<string, number>> = {
  edt: -4,
  est: -5,
  cdt: -5,
  cst: -6,
  mdt: -6,
  mst: -7,
  pdt: -7,
  pst: -8,
};

const DATE =
  /^(?:[A-Za-z]{3,9},? +)?(\d{1,2})[ -]([A-Za-z]{3})[ -](\d{4}) +(\d{1,2}):(\d{2})(?::(\d{2}))?(?: +([+-])(\d{2}):?(\d{2})| +([A-Za-z]{1,5}))?(?: *\([^()]*\))? *$/;
/** Maximum length of a date. */
const MAX_DATE_CHARACTERS = 100;

const MINUTE_MS = 60_000;

/** Returns the time of a date in Unix milliseconds; null when the text is not a date. */
export function parseDate(text: string): number | null {
  return parseZonedDate(text)?.at ?? null;
}

/** A time and the time zone in which it was written. */
export type ZonedDate = {
  /** Time in Unix milliseconds. */
  at: number;
  /** Offset of the zone from UTC in minutes, positive to the east. */
  zoneMinutes: number;
};

/** Returns a date with its zone; null when the text is not a date, or the calendar has no such day. */
export function parseZonedDate(text: string): ZonedDate | null {
  const match = text.length > MAX_DATE_CHARACTERS ? null : DATE.exec(text.trim());
  if (!match) return null;
  const [, day, monthName = '', year, hours, minutes, seconds = '0', sign, zoneHours, zoneMinutes, zone] =
    match;
  const month = MONTHS.indexOf(monthName.toLowerCase());
  const midnight = Date.UTC(Number(year), month, Number(day));
  const isDay = month >= 0 && new Date(midnight).getUTCDate() === Number(day);
  if (!isDay || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return null;
  const offset = offsetMinutes({ sign, zoneHours, zoneMinutes, zone });
  const time = Date.UTC(Number(year), month, Number(day), Number(hours), Number(minutes), Number(seconds));
  return { at: time - offset * MINUTE_MS, zoneMinutes: offset };
}

type Zone = Record<'sign' | 'zoneHours' | 'zoneMinutes' | 'zone', string | undefined>;

function offsetMinutes({ sign, zoneHours = '0', zoneMinutes = '0', zone = '' }: Zone): number {
  if (sign === undefined) return (ZONE_HOURS[zone.toLowerCase()] ?? 0) * 60;
  const minutes = Number(zoneHours) * 60 + Number(zoneMinutes);
  return sign === '-' ? -minutes : minutes;
}

/** The date of a message, as mailboxes are sorted and searched by it. */
export type SentDate = {
  /** Time in Unix milliseconds. */
  at: number;
  /** Day in the sender's own time zone, such as `2025-11-25`. */
  day: string;
};

/** Matches a day. Years of two or three digits are obsolete (RFC 5322 section 4.3). */
const DAY = /(?:^|[\s,])(\d{1,2})[ -]+([A-Za-z]{3})[A-Za-z]*[ -]+(\d{2,4})(?!\d)/;
const TIME =
  /(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?(?: *([+-])(\d{2}):?(\d{2})(?!\d)| +([A-Za-z]{1,5}))?/;

/**
 * Returns the date in a Date field; null when it has no valid day. A time that is not valid is midnight, and a zone that is not valid
 * is UTC (RFC 5256 section 2.2).
 */
export function parseSentDate(text: string): SentDate | null {
  const short = text.slice(0, MAX_DATE_CHARACTERS).replace(/\([^()]*\)/g, ' ');
  const [, date = '', monthName = '', yearText = ''] = DAY.exec(short) ?? [];
  const month = MONTHS.indexOf(monthName.toLowerCase());
  const midnight = Date.UTC(fullYear(yearText), month, Number(date));
  if (month < 0 || new Date(midnight).getUTCDate() !== Number(date)) return null;
  const [, hours = '0', minutes = '0', seconds = '0', sign, zoneHours, zoneMinutes, zone] =
    TIME.exec(short) ?? [];
  const isTime = Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 61;
  const timeMs = isTime ? ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 : 0;
  const offset = offsetMinutes({ sign, zoneHours, zoneMinutes, zone });
  return {
    at: midnight + timeMs - (Math.abs(offset) < 24 * 60 ? offset : 0) * MINUTE_MS,
    day: new Date(midnight).toISOString().slice(0, 10),
  };
}

function fullYear(text: string): number {
  const year = Number(text);
  if (text.length >= 4) return year;
  return year < 50 ? 2000 + year : 1900 + year;
}
