/**
 * The optional records of a domain whose findings are stored by type and name: those of mail programs, of DKIM keys, and of the policies for
 * mail that arrives. None of them decides whether the domain may send.
 */
import type { DnsLookups } from '../system/dns.ts';
import type { Verdict } from './check.ts';
import { type ClientRecord, checkClientRecord, clientRecordsToPublish } from './client-records.ts';
import type { ClientConfig } from './client-services.ts';
import { checkKeyRecord, type KeyRecord, keyRecordsToPublish } from './keys/records.ts';
import { checkPolicyRecord, type PolicyRecord, policyRecordsToPublish } from './policy-records.ts';
import type { Domain } from './store.ts';

export type MoreRecord = KeyRecord | PolicyRecord | ClientRecord;
export type RecordsConfig = ClientConfig & Parameters<typeof policyRecordsToPublish>[0];

/** A domain as the records need it. */
type RecordsDomain = Pick<Domain, 'id' | 'name' | 'productType' | 'keys'>;

/** Returns the records. */
export function moreRecordsToPublish(config: RecordsConfig, domain: RecordsDomain): MoreRecord[] {
  return [
    ...keyRecordsToPublish(config, domain),
    ...policyRecordsToPublish(config, domain),
    ...clientRecordsToPublish(config, domain),
  ];
}

/** Returns the key under which the finding about a record is stored. */
export function moreRecordKey({ type, name }: Pick<MoreRecord, 'type' | 'name'>): string {
  return `${type} ${name}`;
}

type Lookups = Pick<DnsLookups, 'srv' | 'cname' | 'txt'>;

/** Checks the records of a domain, all at once, and returns the verdicts by the keys of the records. */
export async function checkMoreRecords(
  { dns, config }: { dns: Lookups; config: RecordsConfig },
  domain: RecordsDomain,
): Promise<Record<string, Verdict>> {
  const checks = moreRecordsToPublish(config, domain).map(
    async (record) => [moreRecordKey(record), await checkMoreRecord(dns, record, domain)] as const,
  );
  return Object.fromEntries(await Promise.all(checks));
}

function checkMoreRecord(dns: Lookups, record: MoreRecord, domain: RecordsDomain): Promise<Verdict> {
  switch (record.purpose) {
    case 'clients':
      return checkClientRecord(dns, record);
    case 'mta_sts':
    case 'tls_reports':
      return checkPolicyRecord(dns, record);
    case 'dkim_next':
    case 'dkim_ed25519':
      return checkKeyRecord(dns, record, domain);
  }
}
