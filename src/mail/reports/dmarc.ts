/** Reads aggregate reports of DMARC, in the form of RFC 9990 and in the older one of RFC 7489 appendix C. */

import { readElements, UnreadableDocumentError } from '../xml.ts';
import {
  type Disposition,
  type DmarcRecord,
  type DmarcReport,
  type LeftOut,
  readAddress,
  readAuthorDomain,
  readCount,
  readDomain,
  readPeriod,
  readText,
} from './report.ts';

/** Maximum number of different records of a report. Further ones are left out. */
const MAX_RECORDS = 10_000;
/** Maximum number of values before the records, or in one. */
const MAX_VALUES = 10_000;
const MS_PER_SECOND = 1_000;

const ROOT = 'feedback';
const RECORD = `${ROOT}/record`;

/**
 * Reads a report. Equal records are added up, and those that are not complete are counted.
 * @throws UnreadableDocumentError
 */
export function readDmarcReport(xml: string): DmarcReport {
  const head = new Map<string, string>();
  const rows = new Map<string, Row>();
  const leftOut: LeftOut = { records: 0, messages: 0 };
  let values = new Map<string, string>();
  readElements(xml, {
    root: ROOT,
    onLeaf(path, text) {
      // A record without anything in it is a leaf.
      if (path === RECORD) return endRecord();
      const target = path.startsWith(`${RECORD}/`) ? values : head;
      // The first value counts: results of several signatures have the same path.
      if (!target.has(path) && target.size < MAX_VALUES) target.set(path, text);
    },
    onEnd(path) {
      if (path === RECORD) endRecord();
    },
  });

  function endRecord(): void {
    const row = readRow(values);
    if (!row || !add(rows, row)) leaveOut(leftOut, values);
    values = new Map();
  }

  const { domain, ...about } = readHead(head);
  const records = new Map<string, DmarcRecord>();
  // An author that cannot be read is the domain of the policy, which the reporter has looked up for the author.
  for (const { author, ...row } of rows.values())
    add(records, { ...row, headerFrom: readAuthorDomain(author, domain) ?? domain });
  return { type: 'dmarc', domain, ...about, records: heaviestFirst([...records.values()]), leftOut };
}

function readHead(head: ReadonlyMap<string, string>): Omit<DmarcReport, 'type' | 'records' | 'leftOut'> {
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

/** A record as it stands in the report, with the text about its author. */
type Row = Omit<DmarcRecord, 'headerFrom'> & { author: string };

/** Adds the messages of a record to those of an equal one. Returns false when there are too many different ones. */
function add<T extends { messages: number }>(records: Map<string, T>, record: T): boolean {
  if (record.messages === 0) return true;
  const key = JSON.stringify({ ...record, messages: 0 });
  const known = records.get(key);
  if (known) known.messages += record.messages;
  else if (records.size < MAX_RECORDS) records.set(key, { ...record });
  else return false;
  return true;
}

function readRow(values: ReadonlyMap<string, string>): Row | undefined {
  const textAt = (path: string) => values.get(`${RECORD}/${path}`);
  const sourceIp = readAddress(textAt('row/source_ip'));
  const messages = readCount(textAt('row/count'));
  if (sourceIp === undefined || messages === undefined) return undefined;
  return {
    sourceIp,
    messages,
    disposition: dispositionOf(textAt('row/policy_evaluated/disposition')),
    dkim: textAt('row/policy_evaluated/dkim')?.toLowerCase() === 'pass',
    spf: textAt('row/policy_evaluated/spf')?.toLowerCase() === 'pass',
    author: textAt('identifiers/header_from') ?? '',
  };
}

function leaveOut(leftOut: LeftOut, values: ReadonlyMap<string, string>): void {
  leftOut.records += 1;
  leftOut.messages += readCount(values.get(`${RECORD}/row/count`)) ?? 0;
}

function heaviestFirst(records: readonly DmarcRecord[]): DmarcRecord[] {
  return records.toSorted((first, second) => second.messages - first.messages);
}

function dispositionOf(text: string | undefined): Disposition {
  const disposition = text?.toLowerCase();
  return disposition === 'quarantine' || disposition === 'reject' ? disposition : 'none';
}
