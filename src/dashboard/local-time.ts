/** Times that a person enters in its own zone, and the moments that they mean. */
import { DAY_MS } from '../system/clock.ts';

const LOCAL = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::\d\d)?)?$/;

/**
 * Returns the moment of a local date, or date and time, as browsers send it, such as `2026-03-01T09:00`. A time that a change of the clocks
 * leaves out means the one an hour later, and one that occurs twice means the first. Returns undefined for any other text.
 */
export function momentOf(local: string, timeZone: string): number | undefined {
  const [, year, month, day, hour = '0', minute = '0'] = LOCAL.exec(local) ?? [];
  if (year === undefined) return undefined;
  const asUtc = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute));
  // A month or a day that does not exist would count on into the next one.
  if (!new Date(asUtc).toISOString().startsWith(`${year}-${month}-${day}`)) return undefined;
  const before = offsetAt(asUtc - DAY_MS, timeZone);
  const after = offsetAt(asUtc + DAY_MS, timeZone);
  const candidates = [asUtc - before, asUtc - after].filter((at) => at + offsetAt(at, timeZone) === asUtc);
  return candidates[0] ?? asUtc - before;
}

/** Returns the moment of a local time in ISO 8601. Any other text is returned as it is, and the API says what is wrong with it. */
export function isoTimeOf(local: string, timeZone: string): string {
  const moment = momentOf(local, timeZone);
  return moment === undefined ? local : new Date(moment).toISOString();
}

/** Returns the local date and time of a moment, as the field of a form shows it. */
export function localTimeOf(at: number | string, timeZone: string): string {
  const moment = new Date(at).getTime();
  return new Date(moment + offsetAt(moment, timeZone)).toISOString().slice(0, 16);
}

/** Returns how far a zone is ahead of UTC at a moment, in milliseconds. */
function offsetAt(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0);
  const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return local - Math.floor(at / 1000) * 1000;
}

/** Returns the times of a list that two dates of a filter mean, `since` and `until`; both days are in the list. */
export function createdWithin(query: URLSearchParams, timeZone: string): Record<string, string> {
  const since = momentOf(query.get('since') ?? '', timeZone);
  const lastDay = momentOf(query.get('until') ?? '', 'UTC');
  const until =
    lastDay === undefined
      ? undefined
      : momentOf(new Date(lastDay + DAY_MS).toISOString().slice(0, 10), timeZone);
  return {
    ...(since !== undefined && { createdAfter: new Date(since).toISOString() }),
    ...(until !== undefined && { createdBefore: new Date(until).toISOString() }),
  };
}
