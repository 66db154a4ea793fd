/** Reads the values of reports. Strangers write them, so each has a form or a limit. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { DAY_MS } from '../../system/clock.ts';
import { isHostName } from '../../system/dns.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { isSameOrBelow } from '../same-or-below.ts';

/** Maximum length of the text with the domain of an author. Our own limit. */
const MAX_AUTHOR_CHARACTERS = 1_000;
/** Maximum length of a text. Our own limit. */
const MAX_TEXT_CHARACTERS = 200;
/** Maximum number of messages, or of sessions, in one entry of a report. Our own limit: sums of them stay exact. */
const MAX_COUNT = 1_000_000_000;
/** Maximum length of a period. Most reports are about a day; RFC 7489 section 6.3 lets a domain ask for others. */
const MAX_PERIOD_MS = 8 * DAY_MS;
/** Maximum time of a report, the beginning of the year 2100. A later one is a mistake. Our own limit. */
const MAX_TIME_MS = 4_102_444_800_000;

/** Returns a text in one short line. */
export function readText(value: unknown): string {
  return typeof value === 'string' ? cleanForeignText(value, MAX_TEXT_CHARACTERS) : '';
}

/** Returns a domain in lower case, or undefined. */
export function readDomain(value: unknown): string | undefined {
  const name = typeof value === 'string' ? value.trim().toLowerCase().replace(/\.$/, '') : '';
  return isHostName(name) && name.includes('.') ? name : undefined;
}

/**
 * Returns the domain of an author in lower case and A-labels; undefined when no text in the value is one. Some reporters write several domains,
 * a whole address or the text of the header: the first domain that belongs to `policyDomain` counts, or else the first.
 */
export function readAuthorDomain(value: string | undefined, policyDomain: string): string | undefined {
  const texts = (value ?? '').slice(0, MAX_AUTHOR_CHARACTERS).split(/[\s,;<>"'()[\]]+/);
  const domains = texts.flatMap((text) => {
    const name = text.slice(text.lastIndexOf('@') + 1).replace(/\.+$/, '');
    return readDomain(domainToASCII(name) || name) ?? [];
  });
  return domains.find((domain) => isSameOrBelow(domain, policyDomain)) ?? domains[0];
}

/** Returns an address, or undefined. */
export function readAddress(value: unknown): string | undefined {
  const address =
    typeof value === 'string'
      ? value
          .trim()
          .toLowerCase()
          .replace(/^\[(.*)\]$/, '$1')
      : '';
  return isIP(address) === 0 || address.includes('%') ? undefined : address;
}

/** Returns a number of messages or sessions, or undefined. */
export function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\s*\d{1,10}\s*$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT
    ? count
    : undefined;
}

/** Returns a period whose ends are in Unix milliseconds, or undefined when it makes no sense. */
export function readPeriod(beginAt: number, endAt: number): { beginAt: number; endAt: number } | undefined {
  const isPeriod =
    Number.isSafeInteger(beginAt) &&
    Number.isSafeInteger(endAt) &&
    beginAt >= 0 &&
    endAt >= beginAt &&
    endAt <= MAX_TIME_MS &&
    endAt - beginAt <= MAX_PERIOD_MS;
  return isPeriod ? { beginAt, endAt } : undefined;
}
