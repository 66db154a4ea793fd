/** Reads the times in the files of other products: Unix seconds or milliseconds, ISO 8601, and the dates of mail (RFC 5322 section 3.3). */

/** Unix seconds of 1990, before which no product of the kind wrote times. A smaller number is a number, such as a year. */
const MIN_UNIX_SECONDS = 631_152_000;
/** Unix seconds of the year 2100. A larger number is in milliseconds. */
const MAX_UNIX_SECONDS = 4_102_444_800;

const UNIX_TIME = /^\d{9,13}(?:\.\d{1,9})?$/;
/** Date, and perhaps time and zone: `2026-01-02`, `2026-01-02 03:04:05 UTC`, `2026/01/02 03:04`, `2026-01-02T03:04:05.123+01:00`. */
const ISO_TIME =
  /^(\d{4})[-/](\d{2})[-/](\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
/** A date that ends with the year, and perhaps a time: `21.10.2026 11:02`, `21/10/2026`, `10-21-2026 11:02:55`. */
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?:,?[T ](\d{2}:\d{2}(?::\d{2})?))?$/;
/** `Fri, 21 Oct 2026 11:02:55 GMT`, and without the weekday. */
const MAIL_TIME =
  /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})?(?: (?:GMT|UTC|UT|Z|[+-]\d{4}))?$/;

/** `January 2, 2025, 03:04:05 (UTC)` and `Jan 2, 2025 3:04 PM`. */
const MONTH_FIRST =
  /^[A-Z][a-z]{2,8} \d{1,2}, \d{4}(?:,? \d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?)?(?: \(?UTC\)?)?$/;

/** Returns the Unix milliseconds of a time; undefined for any other text. A time without a zone is in UTC. */
export function readTime(text: string): number | undefined {
  const time = UNIX_TIME.test(text)
    ? unixTime(Number(text))
    : (isoTime(text) ?? mailTime(text) ?? monthFirstTime(text) ?? yearLastTime(text));
  return time === undefined || Number.isNaN(time) ? undefined : time;
}

function unixTime(value: number): number | undefined {
  const seconds = value > MAX_UNIX_SECONDS ? value / 1000 : value;
  const isTime = seconds >= MIN_UNIX_SECONDS && seconds <= MAX_UNIX_SECONDS;
  return isTime ? Math.floor(seconds * 1000) : undefined;
}

function isoTime(text: string): number | undefined {
  const parts = ISO_TIME.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, time = '00:00', zone = 'Z'] = parts;
  const offset = /^[+-]/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}` : 'Z';
  return Date.parse(`${year}-${month}-${day}T${time}${offset}`);
}

function mailTime(text: string): number | undefined {
  if (!MAIL_TIME.test(text)) return undefined;
  return Date.parse(/(?:[A-Z]|[+-]\d{4})$/.test(text) ? text : `${text} UTC`);
}

function monthFirstTime(text: string): number | undefined {
  if (!MONTH_FIRST.test(text)) return undefined;
  return Date.parse(`${text.replace(/ \(?UTC\)?$/, '').replace(/(\d) ?([AP]M)$/, '$1 $2')} UTC`);
}

/** Reads a date with dots, where the day comes first, and another one when only one of its numbers can be a month. */
function yearLastTime(text: string): number | undefined {
  const [, first = '', separator, second = '', year, time = '00:00'] = YEAR_LAST.exec(text) ?? [];
  if (year === undefined) return undefined;
  const isDayFirst = separator === '.' || Number(first) > 12;
  if (!isDayFirst && Number(second) <= 12 && first !== second) return undefined;
  const [day, month] = isDayFirst ? [first, second] : [second, first];
  return Date.parse(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${time}Z`);
}
