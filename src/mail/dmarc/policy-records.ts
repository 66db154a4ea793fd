/**
 * Looks up the records of DMARC (RFC 9989 section 4.7), and those of the same form by which a host agrees to get reports. The tree walk finds
 * Organizational Domains (RFC 9989 sections 4.10 and 4.10.2), and the policy that a name above a domain sets for it (section 4.10.1).
 */

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

/** Maximum number of labels of a name above the first one that is looked up (RFC 9989 section 4.10). */
const MAX_LABELS = 7;
/** Minimum number of labels that the names of one organization share: top-level domains have many owners. */
const MIN_SHARED_LABELS = 2;

/**
 * Returns true when both names, which are in lower case, have the same Organizational Domain.
 * @throws LookupFailure
 */
export async function haveSameOrganization(dns: PolicyDns, first: string, second: string): Promise<boolean> {
  if (first === second) return true;
  if (lastLabels(first, MIN_SHARED_LABELS) !== lastLabels(second, MIN_SHARED_LABELS)) return false;
  return (await findOrganization(dns, first)) === (await findOrganization(dns, second));
}

async function findOrganization(dns: PolicyDns, domain: string): Promise<string> {
  let highest = domain;
  for (const name of treeOf(domain)) {
    const record = await readPolicyRecord(dns, name);
    if (!record) continue;
    const psd = record.get('psd')?.toLowerCase();
    // The owner of a public suffix owns none of the names one label below it.
    if (psd === 'y' && name !== domain) return lastLabels(domain, name.split('.').length + 1);
    highest = name;
    if (psd === 'y' || psd === 'n') break;
  }
  return highest;
}

/** Returns the names that are looked up, the longest first. */
function treeOf(domain: string): string[] {
  const labels = domain.split('.');
  const above = labels.slice(1).slice(-MAX_LABELS);
  return [domain, ...above.map((_, index) => above.slice(index).join('.'))];
}

function lastLabels(name: string, count: number): string {
  return name.split('.').slice(-count).join('.');
}

/** Policies from the weakest to the strongest. */
const DMARC_POLICIES = ['none', 'quarantine', 'reject'] as const;
export type DmarcPolicyWord = (typeof DMARC_POLICIES)[number];

/** `domain` is the name whose record at `_dmarc` sets the policy. */
export type ParentPolicy = { domain: string; policy: DmarcPolicyWord };

/**
 * Returns the policy for a domain without a record of its own: that of its Organizational Domain, else that of its
 * public suffix. Returns undefined when no name above sets one.
 * @throws LookupFailure
 */
export async function findParentPolicy(dns: PolicyDns, domain: string): Promise<ParentPolicy | undefined> {
  let highest: ParentPolicy | undefined;
  for (const name of treeOf(domain).slice(1)) {
    const tags = await readPolicyRecord(dns, name);
    if (!tags) continue;
    const found = policyBelow(name, tags);
    const psd = tags.get('psd')?.toLowerCase();
    // The Organizational Domain below a public suffix is the name one label longer (RFC 9989 section 4.10.2).
    if (psd === 'y') return isOneLabelBelow(highest?.domain, name) ? highest : found;
    // A top-level domain that does not call itself a public suffix says nothing about its many owners.
    if (!name.includes('.')) break;
    highest = found;
    if (psd === 'n') break;
  }
  return highest;
}

/** Returns the policy of a record for names below it. A record with an unknown policy asks for reports at most, which is `none`. */
function policyBelow(domain: string, tags: PolicyRecord): ParentPolicy {
  const word = (tags.get('sp') ?? tags.get('p') ?? '').toLowerCase();
  return { domain, policy: DMARC_POLICIES.find((policy) => policy === word) ?? 'none' };
}

function isOneLabelBelow(name: string | undefined, suffix: string): boolean {
  return name !== undefined && name.split('.').length === suffix.split('.').length + 1;
}
