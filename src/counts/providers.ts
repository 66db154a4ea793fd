/**
 * Groups of recipients by the provider of their mailbox, from config/mail-providers.json. The group follows from the domain
 * of the address alone. The mail servers of a domain are not known when mail is accepted, and the counters of an email must
 * all stand in the same group, or rates would compare different mail.
 */
import { readDataFile } from '../data-files.ts';

export const PROVIDERS = ['gmail', 'yahoo', 'microsoft', 'apple', 'other'] as const;
type Provider = (typeof PROVIDERS)[number];

/** One entry of the file. */
type ProviderEntry = { name: string; domains: readonly string[] };

const FILE = 'mail-providers.json';

/**
 * Returns the groups by domain.
 * @throws Error naming an entry of an unknown group
 */
export function readProviders(entries: readonly ProviderEntry[]): ReadonlyMap<string, Provider> {
  const groups = new Map<string, Provider>();
  for (const { name, domains } of entries) {
    const provider = PROVIDERS.find((known) => known === name);
    if (!provider) throw new Error(`the provider "${name}" is not one of ${PROVIDERS.join(', ')}`);
    for (const domain of domains) groups.set(domain, provider);
  }
  return groups;
}

const byDomain = readProviders((readDataFile(FILE) as { providers: readonly ProviderEntry[] }).providers);

/** Returns the group of an address whose domain is in lower case. */
export function providerOf(address: string): Provider {
  return byDomain.get(address.slice(address.lastIndexOf('@') + 1)) ?? 'other';
}
