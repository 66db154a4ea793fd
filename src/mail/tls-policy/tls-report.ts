/** Reports about TLS to the domains that ask for them (RFC 8460): the record that asks, the document, and the message. */
import { gzipSync } from 'node:zlib';
import { isHostName } from '../../system/dns.ts';
import { composeReportMessage, type DayReport } from '../message/report-message.ts';
import type { ReportedFailure, ReportedPolicy } from './reported-session.ts';

export type TlsReport = DayReport & {
  /** Numbers of sessions by policy and failure; `failure` is null for those that met the policy. */
  sessions: readonly { policy: ReportedPolicy; failure: ReportedFailure | null; count: number }[];
};

/** The destinations of reports: mail addresses, and URLs of https. */
export type ReportDestinations = { addresses: readonly string[]; urls: readonly string[] };

/** Maximum number of destinations of a record. Our own limit. */
const MAX_DESTINATIONS = 4;
const RECORD = /^v=TLSRPTv1[ \t]*;/;
const ADDRESS = /^[!#$%&'*+/=?^_`{|}~0-9A-Za-z.-]{1,64}@([0-9A-Za-z.-]{1,253})$/;

/**
 * Returns the destinations that the records of `_smtp._tls.<domain>` name; undefined when they ask for no reports. More than one record
 * of this kind asks for none (RFC 8460 section 3).
 */
export function readReportDestinations(records: readonly string[]): ReportDestinations | undefined {
  const [record, another] = records.filter((text) => RECORD.test(text));
  if (record === undefined || another !== undefined) return undefined;
  const fields = record.split(';').map((field) => field.trim());
  const rua = fields.find((field) => field.startsWith('rua='))?.slice('rua='.length) ?? '';
  const uris = rua
    .split(',')
    .map((uri) => uri.trim())
    .slice(0, MAX_DESTINATIONS);
  const addresses = uris.flatMap((uri) => readAddress(uri) ?? []);
  const urls = uris.filter((uri) => URL.parse(uri)?.protocol === 'https:');
  return addresses.length + urls.length > 0 ? { addresses, urls } : undefined;
}

function readAddress(uri: string): string | undefined {
  const address = decode(/^mailto:([^?]+)/i.exec(uri)?.[1] ?? '');
  const [, host] = ADDRESS.exec(address) ?? [];
  return host !== undefined && isHostName(host) ? address : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Returns the document, compressed as RFC 8460 section 5.2 asks. */
export function compressReport(report: TlsReport): Buffer {
  const { submitter, contact, id, begin, end } = report;
  const document = {
    'organization-name': submitter,
    'date-range': { 'start-datetime': timeOf(begin), 'end-datetime': timeOf(end) },
    'contact-info': contact,
    'report-id': id,
    policies: policiesOf(report),
  };
  return gzipSync(JSON.stringify(document));
}

function timeOf(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}

function policiesOf({ domain, sessions }: TlsReport): unknown[] {
  const byPolicy = Map.groupBy(sessions, ({ policy }) => JSON.stringify(policy));
  return [...byPolicy.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const { type, lines, mx } = first.policy;
    const failed = same.filter(({ failure }) => failure !== null);
    const sum = (some: typeof same) => some.reduce((total, { count }) => total + count, 0);
    return [
      {
        policy: {
          'policy-type': type,
          ...(lines.length > 0 && { 'policy-string': lines }),
          'policy-domain': domain,
          ...(mx.length > 0 && { 'mx-host': mx }),
        },
        summary: {
          'total-successful-session-count': sum(same) - sum(failed),
          'total-failure-session-count': sum(failed),
        },
        ...(failed.length > 0 && {
          'failure-details': failed.map(({ failure, count }) => ({
            'result-type': failure?.type,
            ...(failure?.from && { 'sending-mta-ip': failure.from }),
            ...(failure?.host !== null && { 'receiving-mx-hostname': failure?.host }),
            ...(failure?.address !== null && { 'receiving-ip': failure?.address }),
            'failed-session-count': count,
            ...(failure?.reason !== '' && { 'failure-reason-code': failure?.reason }),
          })),
        }),
      },
    ];
  });
}

/** Media type of a report by HTTPS, and of its part in a message (RFC 8460 section 5). */
export const REPORT_MEDIA_TYPE = 'application/tlsrpt+gzip';

/**
 * Returns the message that carries the report (RFC 8460 section 5.3), without `Date`, and the size of its header with the empty line.
 * Policies about TLS do not hold it up (section 3).
 */
export function composeTlsReport(
  report: TlsReport,
  to: readonly string[],
): { bytes: Buffer; headerBytes: number } {
  const { submitter, domain, id } = report;
  return composeReportMessage(report, {
    to,
    subjectId: `${id}@${submitter}`,
    fields: `TLS-Report-Domain: ${domain}\r\nTLS-Report-Submitter: ${submitter}\r\nTLS-Required: No\r\n`,
    mediaType: 'multipart/report; report-type="tlsrpt"',
    text: `This is a report about TLS with the mail servers of ${domain}, as ${submitter} found it.`,
    file: { mediaType: REPORT_MEDIA_TYPE, extension: 'json.gz', bytes: compressReport(report) },
  });
}
