/**
 * Groups of recipients by the provider of their mailbox, from config/mailbox-groups.json. The group follows from the domain
 * of the address alone. The mail servers of a domain are not known when mail is accepted, and the counters of an email must
 * all stand in the same group, or rates would compare different mail. Writes count by group, so this module loads no reader of YAML
 * into the threads of the database.
 */
import { readDataFile } from '../data-files.ts';

/** Groups of mailboxes in GET /v1/metrics. */
export const GROUPS = ['gmail', 'yahoo', 'microsoft', 'apple', 'other'] as const;
export type Group = (typeof GROUPS)[number];

/** One entry of the file. */
type GroupEntry = { name: string; domains: readonly string[] };

/**
 * Returns the groups by domain.
 * @throws Error naming an entry of an unknown group
 */
export function readGroups(entries: readonly GroupEntry[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const { name, domains } of entries) {
    const group = GROUPS.find((known) => known === name);
    if (!group) throw new Error(`the group "${name}" is not one of ${GROUPS.join(', ')}`);
    for (const domain of domains) groups.set(domain, group);
  }
  return groups;
}

const byDomain = readGroups(
  (readDataFile('mailbox-groups.json') as { groups: readonly GroupEntry[] }).groups,
);

/** Returns the group of an address whose domain is in lower case. */
export function groupOf(address: string): Group {
  return byDomain.get(address.slice(address.lastIndexOf('@') + 1)) ?? 'other';
}
