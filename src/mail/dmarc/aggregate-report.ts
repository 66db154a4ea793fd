/** Writes aggregate reports: the XML of RFC 9990 section 3.1.1, and the message that carries it (section 3.5.2). */
import { gzipSync } from 'node:zlib';
import { composeReportMessage, type DayReport } from '../message/report-message.ts';
import { element, textElement, xmlDocument } from '../xml.ts';
import type { PolicyRecord } from './policy-records.ts';

/** A kind of mail, with the results that its messages have in common. */
export type Observation = {
  sourceIp: string;
  /** Treatment of the messages. `pass`: they passed a policy that asks for a treatment of others. */
  disposition: 'none' | 'pass' | 'quarantine' | 'reject';
  /** Results of DMARC: whether an aligned domain has passed. */
  dkim: 'pass' | 'fail';
  spf: 'pass' | 'fail';
  /** Why messages that failed were not treated as the policy asks; undefined when they were, or passed (RFC 9990 section 3.1.6). */
  reason?: 'local_policy' | 'policy_test_mode' | 'trusted_forwarder' | undefined;
  headerFrom: string;
  envelopeFrom: string;
  /** Results of the signatures, in the order of RFC 9990 section 3.1.3. */
  dkimResults: readonly { domain: string; selector: string; result: string }[];
  spfResult: { domain: string; result: string };
};

export type AggregateReport = DayReport & {
  /** Name and version of this program. */
  generator: string;
  /** Tags of the DMARC record. */
  tags: PolicyRecord;
  rows: readonly { observation: Observation; messages: number }[];
};

const NAMESPACE = 'urn:ietf:params:xml:ns:dmarc-2.0';
const POLICIES: ReadonlySet<string> = new Set(['none', 'quarantine', 'reject']);

/** Returns the report as XML. */
function formatReport(report: AggregateReport): string {
  const { submitter, contact, generator, id, begin, end, rows } = report;
  const metadata =
    textElement('org_name', submitter) +
    textElement('email', contact) +
    textElement('report_id', id) +
    element('date_range', textElement('begin', begin) + textElement('end', end)) +
    textElement('generator', generator);
  const records = rows.map(({ observation, messages }) => element('record', recordOf(observation, messages)));
  const body =
    textElement('version', '1.0') +
    element('report_metadata', metadata) +
    element('policy_published', policyOf(report)) +
    records.join('');
  return xmlDocument(element('feedback', body, { xmlns: NAMESPACE }));
}

/** Tags that the record does not have stand there with their defaults (RFC 9990 section 3.1.1.5). */
function policyOf({ domain, tags }: Pick<AggregateReport, 'domain' | 'tags'>): string {
  const textOf = (name: string) => tags.get(name)?.toLowerCase();
  const alignment = (name: string) => (textOf(name) === 's' ? 's' : 'r');
  const [p, sp = p, np = sp] = ['p', 'sp', 'np'].map(textOf);
  // A record with another word in one of these is applied as p=none (RFC 9989 section 4.10.1).
  const isValid = [p, sp, np].every((policy) => policy !== undefined && POLICIES.has(policy));
  return (
    textElement('domain', domain) +
    textElement('discovery_method', 'treewalk') +
    textElement('p', (isValid && p) || 'none') +
    textElement('sp', (isValid && sp) || 'none') +
    textElement('np', (isValid && np) || 'none') +
    textElement('fo', tags.get('fo') ?? '0') +
    textElement('adkim', alignment('adkim')) +
    textElement('aspf', alignment('aspf')) +
    textElement('testing', textOf('t') === 'y' ? 'y' : 'n')
  );
}

function recordOf(observation: Observation, messages: number): string {
  const { sourceIp, disposition, dkim, spf, reason, headerFrom, envelopeFrom } = observation;
  const { dkimResults, spfResult } = observation;
  const evaluated =
    textElement('disposition', disposition) +
    textElement('dkim', dkim) +
    textElement('spf', spf) +
    (reason === undefined ? '' : element('reason', textElement('type', reason)));
  const signatures = dkimResults.map(({ domain, selector, result }) =>
    element(
      'dkim',
      textElement('domain', domain) + textElement('selector', selector) + textElement('result', result),
    ),
  );
  const sender =
    textElement('domain', spfResult.domain) +
    textElement('scope', 'mfrom') +
    textElement('result', spfResult.result);
  return (
    element(
      'row',
      textElement('source_ip', sourceIp) +
        textElement('count', messages) +
        element('policy_evaluated', evaluated),
    ) +
    element(
      'identifiers',
      textElement('header_from', headerFrom) + textElement('envelope_from', envelopeFrom),
    ) +
    element('auth_results', signatures.join('') + element('spf', sender))
  );
}

/** Returns the message without `Date`, and the size of its header with the empty line. */
export function composeReport(
  report: AggregateReport,
  to: readonly string[],
): { bytes: Buffer; headerBytes: number } {
  const { submitter, domain, id } = report;
  return composeReportMessage(report, {
    to,
    // The id is the same wherever it stands (RFC 9990 section 3.1.4).
    subjectId: id,
    mediaType: 'multipart/mixed',
    text: `This is a DMARC aggregate report about mail from ${domain}, as received by ${submitter}.`,
    file: { mediaType: 'application/gzip', extension: 'xml.gz', bytes: gzipSync(formatReport(report)) },
  });
}
