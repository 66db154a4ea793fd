/**
 * Reads the dates of reports: those of RFC 5322 section 3.3, with the names of zones that section 4.3 has, and with comments,
 * seconds and days of the week that may be missing.
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
/** Maximum length of a date. Our own limit. */
const MAX_DATE_CHARACTERS = 100;

const MINUTE_MS = 60_000;

/** Returns the time of a date in Unix milliseconds; null when the text is not a date. */
export function parseDate(text: string): number | null {
  const match = text.length > MAX_DATE_CHARACTERS ? null : DATE.exec(text.trim());
  if (!match) return null;
  const [, day, monthName = '', year, hours, minutes, seconds = '0', sign, zoneHours, zoneMinutes, zone] =
    match;
  const month = MONTHS.indexOf(monthName.toLowerCase());
  if (month < 0 || Number(day) < 1 || Number(day) > 31 || Number(hours) > 23 || Number(minutes) > 59)
    return null;
  const time = Date.UTC(Number(year), month, Number(day), Number(hours), Number(minutes), Number(seconds));
  return time - offsetMinutes({ sign, zoneHours, zoneMinutes, zone }) * MINUTE_MS;
}

type Zone = Record<'sign' | 'zoneHours' | 'zoneMinutes' | 'zone', string | undefined>;

function offsetMinutes({ sign, zoneHours = '0', zoneMinutes = '0', zone = '' }: Zone): number {
  if (sign === undefined) return (ZONE_HOURS[zone.toLowerCase()] ?? 0) * 60;
  const minutes = Number(zoneHours) * 60 + Number(zoneMinutes);
  return sign === '-' ? -minutes : minutes;
}
