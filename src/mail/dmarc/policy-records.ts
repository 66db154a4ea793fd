/** Looks up the records of DMARC (RFC 9989 section 4.7), and those of the same form by which a host agrees to get reports. */
import { type DnsAnswer, type DnsLookups, isHostName } from '../../system/dns.ts';
import { parseTagList } from '../dkim/tag-list.ts';

export type PolicyDns = Pick<DnsLookups, 'txt'>;

/** The tags of a record by name, in their order. */
export type PolicyRecord = ReadonlyMap<string, string>;

/** Reports that DNS does not answer. */
export class LookupFailure extends Error {
  override readonly name = 'LookupFailure';
}

/**
 * Returns the records at a name. Others that stand there are left out.
 * @throws LookupFailure
 */
export async function readPolicyRecords(dns: PolicyDns, name: string): Promise<PolicyRecord[]> {
  if (!isHostName(name)) return [];
  const answer: DnsAnswer<string> = await dns.txt(name);
  if (answer.kind === 'failed') throw new LookupFailure(`${name}: ${answer.reason}`);
  if (answer.kind !== 'found') return [];
  return answer.records.flatMap((text) => {
    const tags = parseTagList(text);
    const [first] = tags ?? [];
    return tags && first?.[0] === 'v' && first[1] === 'DMARC1' ? [tags] : [];
  });
}

/**
 * Returns the record at `_dmarc` below a domain; undefined when there is none, or several, which count as none.
 * @throws LookupFailure
 */
export async function readPolicyRecord(dns: PolicyDns, domain: string): Promise<PolicyRecord | undefined> {
  const [record, ...others] = await readPolicyRecords(dns, `_dmarc.${domain}`);
  return others.length === 0 ? record : undefined;
}
