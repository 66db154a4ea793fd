/**
 * The optional records by which a domain that receives mail here demands TLS of other servers (MTA-STS, RFC 8461), and gets their reports
 * about it (TLS-RPT, RFC 8460). This installation serves the policy itself, over HTTPS.
 */
import type { Config } from '../config/config.ts';
import type { DomainRow } from '../db/tables.ts';
import type { DnsAnswer, DnsLookups } from '../system/dns.ts';
import { evaluateTracking, type Verdict, verdicts } from './check.ts';
import { reportAddress } from './report-address.ts';

export type PolicyRecord = { name: string; value: string } & (
  | { record: 'MTA_STS' | 'MTA_STS_ID'; purpose: 'mta_sts'; type: 'CNAME' }
  | { record: 'TLS_RPT'; purpose: 'tls_reports'; type: 'TXT' }
);

type PolicyConfig = Pick<Config, 'hostname' | 'https'>;

/** Returns the records. Without HTTPS nothing serves the policy, and a policy of the mode `none` demands nothing. */
export function policyRecordsToPublish(
  config: PolicyConfig,
  domain: Pick<DomainRow, 'id' | 'name'>,
): PolicyRecord[] {
  const host = config.hostname.toLowerCase();
  const reports: PolicyRecord = {
    record: 'TLS_RPT',
    purpose: 'tls_reports',
    type: 'TXT',
    name: `_smtp._tls.${domain.name}`,
    value: `v=TLSRPTv1; rua=mailto:${reportAddress(config, domain)}`,
  };
  if (!config.https.enabled || config.https.mtaSts === 'none') return [reports];
  const policy = { purpose: 'mta_sts', type: 'CNAME' } as const;
  return [
    { record: 'MTA_STS', ...policy, name: `mta-sts.${domain.name}`, value: host },
    // The id of the policy changes with it, so the domain leads to the record of the installation (RFC 8461 section 8.2).
    { record: 'MTA_STS_ID', ...policy, name: `_mta-sts.${domain.name}`, value: `_mta-sts.${host}` },
    reports,
  ];
}

/** Checks one of the records. */
export async function checkPolicyRecord(
  dns: Pick<DnsLookups, 'txt' | 'cname'>,
  record: PolicyRecord,
): Promise<Verdict> {
  return record.type === 'CNAME'
    ? evaluateTracking(await dns.cname(record.name), record.value)
    : evaluateReports(await dns.txt(record.name), record.value);
}

/** Evaluates the TLS-RPT record: exactly one must exist (RFC 8460 section 3), and it may name other addresses beside ours. */
function evaluateReports(answer: DnsAnswer<string>, wanted: string): Verdict {
  if (answer.kind === 'failed') return verdicts.unknown(answer.reason);
  const found = answer.kind === 'found' ? answer.records : [];
  const records = found.filter((text) => /^v=TLSRPTv1\s*;/.test(text));
  const address = wanted.slice(wanted.indexOf('mailto:'));
  if (records.length === 0) return verdicts.absent('No TLS-RPT record (v=TLSRPTv1) is published here');
  if (records.length > 1)
    return verdicts.wrong(records, 'There are several TLS-RPT records; only one may stay');
  return records.every((text) => text.toLowerCase().includes(address.toLowerCase()))
    ? verdicts.verified(records)
    : verdicts.absent(`The reports go elsewhere; add ${address} to rua to see them here`, records);
}
