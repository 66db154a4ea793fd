/**
 * Reports that other servers send about the mail that they got from a domain, or about their TLS connections to it. Strangers write their
 * values, so each has a form or a limit.
 */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { DAY_MS } from '../../system/clock.ts';
import { isHostName } from '../../system/dns.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { isSameOrBelow } from '../domain-names.ts';

/** The treatment of messages. */
export type Disposition = 'none' | 'quarantine' | 'reject';

/** Messages from one address that had the same results. */
export type DmarcRecord = {
  sourceIp: string;
  messages: number;
  disposition: Disposition;
  /** True when DKIM, or SPF, passed for an aligned domain. */
  dkim: boolean;
  spf: boolean;
  /** Domain of the author, in lower case. */
  headerFrom: string;
};

/** The part of a report that could not be read, or exceeds a limit. */
export type LeftOut = {
  /** Number of records, or of policies in a report about TLS. */
  records: number;
  /** Number of messages, or of connections, in those of them that say it. */
  messages: number;
};

/** The fields of every report. Texts are cleaned and short. */
type ReportHead = {
  leftOut: LeftOut;
  organization: string;
  reportId: string;
  /** Period of the report in Unix milliseconds. */
  beginAt: number;
  endAt: number;
};

/** An aggregate report (RFC 9990 section 3.1.1). */
export type DmarcReport = ReportHead & {
  type: 'dmarc';
  /** Domain whose policy was applied, in lower case. */
  domain: string;
  policy: Disposition;
  /** The records with the most messages come first. */
  records: DmarcRecord[];
};

/** Connections that failed for the same reason. */
export type TlsFailure = {
  /** Type of the failure, such as `certificate-expired` (RFC 8460 section 4.3). */
  resultType: string;
  sessions: number;
  receivingHost: string | null;
};

export type TlsPolicy = {
  /** Domain whose mail was sent, in lower case. */
  domain: string;
  policyType: 'tlsa' | 'sts' | 'no-policy-found';
  succeeded: number;
  failed: number;
  failures: TlsFailure[];
};

/** A report about TLS (RFC 8460 section 4.4). */
export type TlsReport = ReportHead & { type: 'tls'; policies: TlsPolicy[] };

export type Report = DmarcReport | TlsReport;

/** Maximum length of the text with the domain of an author. */
const MAX_AUTHOR_CHARACTERS = 1_000;
/** Maximum length of a text. */
const MAX_TEXT_CHARACTERS = 200;
/** Maximum number of messages, or of sessions, in one entry of a report. Sums of them stay exact. */
const MAX_COUNT = 1_000_000_000;
/** Maximum length of a period. Most reports are about a day; RFC 7489 section 6.3 lets a domain ask for others. */
const MAX_PERIOD_MS = 8 * DAY_MS;
/** Maximum time of a report, the beginning of the year 2100. A later one is a mistake. */
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
