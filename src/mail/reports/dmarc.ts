/** Reads aggregate reports of DMARC, in the form of RFC 9990 and in the older one of RFC 7489 appendix C. */
import { readElements, UnreadableDocumentError } from '../xml/read.ts';
import type { Disposition, DmarcRecord, DmarcReport } from './report.ts';
import { readAddress, readCount, readDomain, readPeriod, readText } from './values.ts';

/** Maximum number of different records of a report. Further ones are left out. Our own limit. */
const MAX_RECORDS = 10_000;
const MS_PER_SECOND = 1_000;

const ROOT = 'feedback';
const RECORD = `${ROOT}/record`;

/**
 * Reads a report. Records that are not complete are left out, and equal ones are added up.
 * @throws UnreadableDocumentError
 */
export function readDmarcReport(xml: string): DmarcReport {
  const head = new Map<string, string>();
  const records = new Map<string, DmarcRecord>();
  let row = new Map<string, string>();
  readElements(xml, {
    onLeaf(path, text) {
      const isOfRecord = path.startsWith(`${RECORD}/`);
      const values = isOfRecord ? row : head;
      // The first value counts: results of several signatures have the same path.
      if (!values.has(path) && values.size < MAX_RECORDS) values.set(path, text);
    },
    onEnd(path) {
      if (path !== RECORD) return;
      addRecord(records, row);
      row = new Map();
    },
  });
  return { type: 'dmarc', ...readHead(head), records: heaviestFirst([...records.values()]) };
}

function readHead(head: ReadonlyMap<string, string>): Omit<DmarcReport, 'type' | 'records'> {
  const textAt = (path: string) => head.get(`${ROOT}/${path}`);
  const period = readPeriod(
    Number(textAt('report_metadata/date_range/begin')) * MS_PER_SECOND,
    Number(textAt('report_metadata/date_range/end')) * MS_PER_SECOND,
  );
  const domain = readDomain(textAt('policy_published/domain'));
  const reportId = readText(textAt('report_metadata/report_id'));
  if (!period || domain === undefined || reportId === '')
    throw new UnreadableDocumentError('the report has no period, no domain or no id');
  return {
    organization: readText(textAt('report_metadata/org_name')),
    reportId,
    ...period,
    domain,
    policy: dispositionOf(textAt('policy_published/p')),
  };
}

function addRecord(records: Map<string, DmarcRecord>, row: ReadonlyMap<string, string>): void {
  const textAt = (path: string) => row.get(`${RECORD}/${path}`);
  const sourceIp = readAddress(textAt('row/source_ip'));
  const messages = readCount(textAt('row/count'));
  const headerFrom = readDomain(textAt('identifiers/header_from'));
  if (sourceIp === undefined || messages === undefined || messages === 0 || headerFrom === undefined) return;
  const disposition = dispositionOf(textAt('row/policy_evaluated/disposition'));
  const dkim = textAt('row/policy_evaluated/dkim')?.toLowerCase() === 'pass';
  const spf = textAt('row/policy_evaluated/spf')?.toLowerCase() === 'pass';
  const key = [sourceIp, disposition, dkim, spf, headerFrom].join(' ');
  const known = records.get(key);
  if (known) known.messages += messages;
  else if (records.size < MAX_RECORDS)
    records.set(key, { sourceIp, messages, disposition, dkim, spf, headerFrom });
}

function heaviestFirst(records: readonly DmarcRecord[]): DmarcRecord[] {
  return records.toSorted((one, other) => other.messages - one.messages);
}

function dispositionOf(text: string | undefined): Disposition {
  const disposition = text?.toLowerCase();
  return disposition === 'quarantine' || disposition === 'reject' ? disposition : 'none';
}
