/** Writes INTERNALDATE and SAVEDATE. */
import type { InternalDate } from '../session.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MINUTE_MS = 60_000;

/** Returns a time such as `" 1-Feb-2026 08:30:00 +0100"` (RFC 9051 section 9, `date-time`). */
export function writeInternalDate({ atMs, zoneMinutes }: InternalDate): string {
  const local = new Date(atMs + zoneMinutes * MINUTE_MS);
  const day = `${local.getUTCDate()}`.padStart(2);
  const date = `${day}-${MONTHS[local.getUTCMonth()]}-${`${local.getUTCFullYear()}`.padStart(4, '0')}`;
  const zone = Math.abs(zoneMinutes);
  const offset = `${zoneMinutes < 0 ? '-' : '+'}${twoDigits(Math.floor(zone / 60))}${twoDigits(zone % 60)}`;
  return `"${date} ${local.toISOString().slice(11, 19)} ${offset}"`;
}

function twoDigits(number: number): string {
  return `${number}`.padStart(2, '0');
}
