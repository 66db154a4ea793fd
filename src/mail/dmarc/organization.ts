/** Finds Organizational Domains by the tree walk of DMARC (RFC 9989 sections 4.10 and 4.10.2). */
import { type PolicyDns, readPolicyRecord } from './policy-records.ts';

/** Maximum number of labels of a name above the first one that is looked up (RFC 9989 section 4.10). */
const MAX_LABELS = 7;
/** Minimum number of labels that the names of one organization share: top-level domains have many owners. */
const MIN_SHARED_LABELS = 2;

/**
 * Returns true when both names, which are in lower case, have the same Organizational Domain.
 * @throws LookupFailure
 */
export async function haveSameOrganization(dns: PolicyDns, one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  if (lastLabels(one, MIN_SHARED_LABELS) !== lastLabels(other, MIN_SHARED_LABELS)) return false;
  return (await findOrganization(dns, one)) === (await findOrganization(dns, other));
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
export function treeOf(domain: string): string[] {
  const labels = domain.split('.');
  const above = labels.slice(1).slice(-MAX_LABELS);
  return [domain, ...above.map((_, index) => above.slice(index).join('.'))];
}

function lastLabels(name: string, count: number): string {
  return name.split('.').slice(-count).join('.');
}
