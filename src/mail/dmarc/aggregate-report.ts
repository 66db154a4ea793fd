/** Writes aggregate reports: the XML of RFC 7489 appendix C, and the message that carries it (section 7.2.1.1). */
import { gzipSync } from 'node:zlib';
import { base64Lines } from '../message/base64.ts';

/** A kind of mail, with the results that its messages have in common. */
export type Observation = {
  sourceIp: string;
  disposition: 'none' | 'quarantine' | 'reject';
  /** Results of DMARC: whether an aligned domain has passed. */
  dkim: 'pass' | 'fail';
  spf: 'pass' | 'fail';
  headerFrom: string;
  envelopeFrom: string;
  dkimResults: readonly { domain: string; selector: string; result: string }[];
  spfResult: { domain: string; result: string };
};

export type AggregateReport = {
  /** Host name of the installation. */
  submitter: string;
  contact: string;
  /** Domain whose DMARC record asks for the report. */
  domain: string;
  id: string;
  /** Period in Unix seconds. */
  begin: number;
  end: number;
  /** Tags of the DMARC record. */
  tags: ReadonlyMap<string, string>;
  rows: readonly { observation: Observation; messages: number }[];
};

const LINE_CHARACTERS = /[^\t\n\r -\ud7ff\ue000-\ufffd]/g;

/** Returns the report as XML. */
function formatReport({ submitter, contact, domain, id, begin, end, tags, rows }: AggregateReport): string {
  const alignment = (name: string) => (tags.get(name)?.toLowerCase() === 's' ? 's' : 'r');
  const policy = policyOf(tags.get('p')) ?? 'none';
  const metadata =
    element('org_name', submitter) +
    element('email', contact) +
    element('report_id', id) +
    nested('date_range', element('begin', begin) + element('end', end));
  const published =
    element('domain', domain) +
    element('adkim', alignment('adkim')) +
    element('aspf', alignment('aspf')) +
    element('p', policy) +
    element('sp', policyOf(tags.get('sp')) ?? policy) +
    element('pct', 100) +
    element('fo', tags.get('fo') ?? '0');
  const records = rows.map(({ observation, messages }) => nested('record', recordOf(observation, messages)));
  const body =
    element('version', '1.0') +
    nested('report_metadata', metadata) +
    nested('policy_published', published) +
    records.join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n${nested('feedback', body)}`;
}

function recordOf(observation: Observation, messages: number): string {
  const { sourceIp, disposition, dkim, spf, headerFrom, envelopeFrom, dkimResults, spfResult } = observation;
  const evaluated = element('disposition', disposition) + element('dkim', dkim) + element('spf', spf);
  const signatures = dkimResults.map(({ domain, selector, result }) =>
    nested('dkim', element('domain', domain) + element('selector', selector) + element('result', result)),
  );
  const sender =
    element('domain', spfResult.domain) + element('scope', 'mfrom') + element('result', spfResult.result);
  return (
    nested(
      'row',
      element('source_ip', sourceIp) + element('count', messages) + nested('policy_evaluated', evaluated),
    ) +
    nested('identifiers', element('envelope_from', envelopeFrom) + element('header_from', headerFrom)) +
    nested('auth_results', signatures.join('') + nested('spf', sender))
  );
}

function policyOf(text: string | undefined): string | undefined {
  const policy = text?.toLowerCase();
  return policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : undefined;
}

function nested(name: string, content: string): string {
  return `<${name}>\n${content}</${name}>\n`;
}

/** Names of strangers cannot end the element, and hold no character that XML forbids. */
function element(name: string, value: string | number): string {
  const text = String(value).replace(LINE_CHARACTERS, '?');
  return `<${name}>${text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`)}</${name}>\n`;
}

/** Returns the message without `Date`, and the size of its header with the empty line. */
export function composeReport(
  report: AggregateReport,
  to: readonly string[],
): { bytes: Buffer; headerBytes: number } {
  const { submitter, contact, domain, id, begin, end } = report;
  const file = gzipSync(formatReport(report));
  const filename = `${submitter}!${domain}!${begin}!${end}!${id}.xml.gz`;
  const boundary = `report-${id}`;
  const header = Buffer.from(
    `From: ${contact}\r\nTo: ${to.join(',\r\n ')}\r\n` +
      `Subject: Report Domain: ${domain}\r\n Submitter: ${submitter}\r\n Report-ID: <${id}@${submitter}>\r\n` +
      `Message-ID: <${id}@${submitter}>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n` +
      `Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`,
  );
  const text = `This is a DMARC aggregate report about mail from ${domain}, as received by ${submitter}.`;
  const parts = [
    `--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n--${boundary}\r\n`,
    `Content-Type: application/gzip\r\nContent-Disposition: attachment;\r\n filename="${filename}"\r\n`,
    'Content-Transfer-Encoding: base64\r\n\r\n',
  ];
  const lines = [...base64Lines({ kind: 'bytes', bytes: file })];
  const bytes = Buffer.concat([
    header,
    Buffer.from(parts.join('')),
    ...lines,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { bytes, headerBytes: header.length };
}
