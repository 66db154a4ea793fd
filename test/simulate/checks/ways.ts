/** Says where mail goes, as far as that follows from the plan alone. */
import type { Plan } from '../plan.ts';

/** Returns the message and the site of each address whose domain has the same one of these sites for ever. */
export function waysOf(
  { domains, mail }: Plan,
  sites: ReadonlySet<string>,
): Map<string, { mail: string; tenant: string; site: string }> {
  const siteOfDomain = new Map<string, string>();
  for (const { name, records } of domains) {
    const [only, ...others] = records;
    if (only?.answer.kind === 'site' && others.length === 0 && sites.has(only.answer.site))
      siteOfDomain.set(name, only.answer.site);
  }
  const ways = new Map<string, { mail: string; tenant: string; site: string }>();
  for (const { name, tenant, recipients } of mail)
    for (const { address, domain } of recipients) {
      const site = siteOfDomain.get(domain);
      if (site !== undefined) ways.set(address, { mail: name, tenant, site });
    }
  return ways;
}
