/** Finds the DMARC policy that a name above a domain sets for it: policy discovery without the domain's own record (RFC 9989 section 4.10.1). */
import { treeOf } from './organization.ts';
import { type PolicyDns, type PolicyRecord, readPolicyRecord } from './policy-records.ts';

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
