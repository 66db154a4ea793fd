/** Writes FETCH responses (RFC 9051 section 7.5.2). */
import type { InternalDate } from '../session.ts';
import type { WirePieces } from './section.ts';

/** Name and value of an item, ready for the wire, such as `UID 7`. A text is sent as UTF-8. */
type WireItem = string | WirePieces;

/** Returns the response for one message, with its CRLF. */
export function writeFetch(number: number, items: Iterable<WireItem>): Buffer {
  const pieces: Buffer[] = [];
  let text = `* ${number} FETCH (`;
  let separator = '';
  for (const item of items) {
    text += separator;
    separator = ' ';
    if (typeof item === 'string') {
      text += item;
      continue;
    }
    for (const piece of item) {
      if (typeof piece === 'string') text += piece;
      else {
        pieces.push(Buffer.from(text), piece);
        text = '';
      }
    }
  }
  pieces.push(Buffer.from(`${text})\r\n`));
  return Buffer.concat(pieces);
}

/** Returns `(flag flag …)`. */
export function writeFlags(flags: Iterable<string>): string {
  return `(${[...flags].join(' ')})`;
}

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
