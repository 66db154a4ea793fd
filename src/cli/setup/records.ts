/**
 * Lists the DNS records of the machine and of the domain, and says which of them publish themselves: those of the machine, where the
 * name server or dynamic updates are configured, and those of the domain, where it is in a zone of the updates.
 */
import type { Config } from '../../config/config.ts';
import type { UpdateReport } from '../../dns-updates/updates.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import type { OperatorDomain } from '../../domains/admin-api.ts';
import type { OperatorRecord, OperatorRecords } from '../../domains/operator-records.ts';
import type { RecordValue } from '../../domains/published.ts';
import { isSameOrBelow } from '../../mail/domain-names.ts';
import type { NameServerReport } from '../../nameserver/name-server.ts';
import type { ControlClient } from '../control-client.ts';
import { recordData, type ZoneRecord, zoneFile } from '../domain-records.ts';

const { ok, warn } = findingsOf('records');

/** Names that mail leaves without: reports and policies of other servers need them. */
const FOR_REPORTS = /^(?:\*\._report|_smtp\._tls|_mta-sts)\./;

export type Records = {
  /** Records that the operator has to publish, each with its purpose. */
  toPublish: readonly ZoneRecord[];
  /** Records without which no mail leaves well, whoever publishes them. */
  needed: readonly RecordValue[];
  findings: Finding[];
};

/** Returns the records, after the daemon has published those that it can. */
export async function listRecords(
  control: Pick<ControlClient, 'request'>,
  config: Config,
  domain: OperatorDomain,
): Promise<Records> {
  const { records, warnings } = await control.request<OperatorRecords>('GET', '/dns-records');
  const ofMachine = records.filter(({ isOptional }) => isOptional !== true);
  const ofDomain = domain.records.map(
    ({ record, type, name, value }): OperatorRecord => ({
      type,
      name,
      value,
      purpose: `${record} of ${domain.name}`,
    }),
  );
  const optional = domain.optionalRecords.map(
    ({ note, ...record }): ZoneRecord => ({ ...record, value: recordData(record), purpose: note }),
  );
  const published = await publish(control, config, ofMachine);
  const own = await publishDomain(control, config, { domain, records: [...ofDomain, ...optional] });
  const toPublish = [...published.left, ...own.left];
  const missing = warnings.map((warning) => warn('machine', warning, 'give --address, and run this again'));
  const needed = [...ofMachine.filter(({ name }) => !FOR_REPORTS.test(name)), ...ofDomain];
  const left = ok(
    domain.name,
    `${toPublish.length} records are to be published, of which sending needs ${countOf(toPublish, needed)}`,
  );
  return {
    toPublish,
    needed,
    findings: [...missing, ...published.findings, ...own.findings, left],
  };
}

/** Returns how many of the records to publish are needed. Those of the machine may publish themselves. */
function countOf(toPublish: readonly ZoneRecord[], needed: readonly RecordValue[]): number {
  const keys = new Set(needed.map(({ name, type }) => `${type} ${name}`));
  return toPublish.filter(({ name, type }) => keys.has(`${type} ${name}`)).length;
}

/** Returns the records as the lines of a zone file. */
export function zoneText({ toPublish }: Records): string {
  return `${zoneFile(toPublish)}\n; merge SPF and DMARC with a record that is there already: a name has one of each\n`;
}

type Publishing = { left: readonly ZoneRecord[]; findings: Finding[] };

async function publish(
  control: Pick<ControlClient, 'request'>,
  { nameserver, dns, hostname }: Config,
  ofMachine: readonly OperatorRecord[],
): Promise<Publishing> {
  if (nameserver.enabled) {
    const { delegation, zone } = await control.request<NameServerReport>('GET', '/nameserver');
    const says = `the name server answers with the ${ofMachine.length} records of ${zone}`;
    return { left: delegation, findings: [ok(hostname, says)] };
  }
  if (dns.update.server === '') return { left: ofMachine, findings: [] };
  return judge(hostname, ofMachine, await control.request<UpdateReport>('POST', '/dns-updates/run'));
}

type OfDomain = { domain: OperatorDomain; records: readonly ZoneRecord[] };

/** Has the daemon publish the domain of the operator, whose zone it is, before the domain can be verified. */
async function publishDomain(
  control: Pick<ControlClient, 'request'>,
  { dns: { update } }: Config,
  { domain: { id, name }, records }: OfDomain,
): Promise<Publishing> {
  const isInZone = update.zones.some((zone) => isSameOrBelow(name, zone.toLowerCase()));
  if (update.server === '' || !isInZone) return { left: records, findings: [] };
  const report = await control.request<UpdateReport>('POST', `/domains/${id}/publish`);
  const listed = new Set(report.records.map((one) => `${one.type} ${one.name}`));
  // A record that is not listed serves already, or comes by itself once mail arrives here.
  const wanted = records.filter((one) => report.problem !== null || listed.has(`${one.type} ${one.name}`));
  return judge(name, wanted, report);
}

/** Returns which records were not published, and says so. */
function judge(
  subject: string,
  wanted: readonly ZoneRecord[],
  { records, problem }: UpdateReport,
): Publishing {
  const isDone = ({ name, type }: ZoneRecord) =>
    records.some(
      (one) => one.name === name && one.type === type && ['in_place', 'written'].includes(one.state),
    );
  const left = wanted.filter((record) => !isDone(record));
  const says = `${wanted.length - left.length} of ${wanted.length} records are written by dynamic updates`;
  if (left.length === 0) return { left, findings: [ok(subject, says)] };
  const advice = `"postrider dns status" says why${problem === null ? '' : ` (${problem})`}; publish the others below`;
  return { left, findings: [warn(subject, says, advice)] };
}
