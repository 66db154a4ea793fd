/** Takes from a report what it says about one domain. Whatever it says about others is dropped. */
import { isSameOrBelow } from '../../mail/domain-names.ts';
import type { Disposition, DmarcRecord, LeftOut, Report, TlsPolicy } from '../../mail/reports/report.ts';

/** The details of a stored report. */
export type ReportDetails = {
  /** Domain whose policy was applied, and that policy; null for a report about TLS. */
  dmarc: { domain: string; policy: Disposition; records: DmarcRecord[]; otherMessages: number } | null;
  tls: { policies: TlsPolicy[] } | null;
  /** The part of the whole report that could not be read. Rows of earlier versions do not have it. */
  leftOut?: LeftOut;
};

/** The part of a report that is about one domain. */
type SelectedReport = Pick<Report, 'type' | 'organization' | 'reportId' | 'beginAt' | 'endAt'> & {
  /** Messages that passed DMARC, or connections with TLS. */
  passed: number;
  failed: number;
  details: ReportDetails;
};

/** Maximum number of records that are kept, those with the most messages. */
const MAX_RECORDS = 50;
/** Maximum number of policies, and of the failures of each, that are kept. */
const MAX_POLICIES = 10;
const MAX_FAILURES = 20;

/** Returns what a report says about a domain and the names below it; undefined when it says nothing. */
export function selectFor(domain: string, report: Report): SelectedReport | undefined {
  const { type, organization, reportId, beginAt, endAt } = report;
  const result = report.type === 'dmarc' ? selectRecords(domain, report) : selectPolicies(domain, report);
  if (!result) return undefined;
  const details = { ...result.details, leftOut: report.leftOut };
  return { type, organization, reportId, beginAt, endAt, ...result, details };
}

type Selected = Pick<SelectedReport, 'passed' | 'failed' | 'details'>;

/** The policy may be that of a domain above this one, whose owner wants the reports here (RFC 7489 section 6.6.3). */
function selectRecords(domain: string, report: Extract<Report, { type: 'dmarc' }>): Selected | undefined {
  if (!isSameOrBelow(domain, report.domain) && !isSameOrBelow(report.domain, domain)) return undefined;
  const mine = report.records.filter(({ headerFrom }) => isSameOrBelow(headerFrom, domain));
  // A report about this domain of which nothing could be read is kept, so that its owner sees it.
  const isUnread = report.leftOut.records > 0 && isSameOrBelow(report.domain, domain);
  if (mine.length === 0 && !isUnread) return undefined;
  const records = mine.slice(0, MAX_RECORDS);
  const passed = sumOf(mine.filter(({ dkim, spf }) => dkim || spf));
  const all = sumOf(mine);
  const dmarc = {
    domain: report.domain,
    policy: report.policy,
    records,
    otherMessages: all - sumOf(records),
  };
  return { passed, failed: all - passed, details: { dmarc, tls: null } };
}

function selectPolicies(domain: string, report: Extract<Report, { type: 'tls' }>): Selected | undefined {
  const mine = report.policies.filter((policy) => isSameOrBelow(policy.domain, domain));
  if (mine.length === 0) return undefined;
  const policies = mine
    .slice(0, MAX_POLICIES)
    .map((policy) => ({ ...policy, failures: policy.failures.slice(0, MAX_FAILURES) }));
  return {
    passed: mine.reduce((sum, { succeeded }) => sum + succeeded, 0),
    failed: mine.reduce((sum, { failed }) => sum + failed, 0),
    details: { dmarc: null, tls: { policies } },
  };
}

function sumOf(records: readonly DmarcRecord[]): number {
  return records.reduce((sum, { messages }) => sum + messages, 0);
}
