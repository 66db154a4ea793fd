/** Tools about the domains that mail is sent from. */
import type { Static } from 'typebox';
import type { domainSchema } from '../../domains/schemas.ts';
import { type Calls, path } from '../../http/json/calls.ts';
import { notFound } from '../../system/errors.ts';
import { pageArguments, valueArgument } from '../arguments.ts';
import { saysPage } from '../says-page.ts';
import { type Answer, defineTool, input } from '../tool.ts';

type Domain = Static<typeof domainSchema>;
type DomainPage = { data: Domain[]; nextCursor: string | null };

export const listDomains = defineTool({
  name: 'list_domains',
  title: 'List domains',
  description:
    'Lists the domains of the account with their status. Mail can be sent from those that are verified; a test key can also use the sandbox domain.',
  effect: 'reads',
  input: input(pageArguments),
  async run({ api }, page) {
    const found = await api.get<DomainPage>('/domains', { limit: 10, ...page });
    const domains = found.data.map(({ id, name, status, productType, verifiedAt }) => ({
      id,
      name,
      status,
      productType,
      verifiedAt,
    }));
    return { says: saysPage('domains', found), foreign: domains };
  },
});

const domainArgument = {
  domain: valueArgument('Name of the domain, such as example.com, or its id.'),
};

export const checkDomain = defineTool({
  name: 'check_domain',
  title: 'Check a domain',
  description:
    'Shows the DNS records that a domain needs, what was found at the last check, and what is wrong with each. Use it when mail from a domain ' +
    'is refused with `domain_not_verified`, or before a domain is used. `verify_domain` looks again now.',
  effect: 'reads',
  input: input(domainArgument),
  run: async ({ api }, { domain }) => showDomain(await getDomain(api, domain)),
});

export const verifyDomain = defineTool({
  name: 'verify_domain',
  title: 'Verify a domain now',
  description:
    'Looks up the DNS records of a domain now, instead of at the next regular check, and shows what was found. Use it after records were published.',
  effect: 'looksUp',
  input: input(domainArgument),
  async run({ api }, { domain }) {
    const { id } = await getDomain(api, domain);
    return showDomain(await api.post<Domain>(path`/domains/${id}/verify`));
  },
});

async function getDomain(api: Calls, domain: string): Promise<Domain> {
  if (/^dom_[0-9a-z]+$/.test(domain)) return api.get<Domain>(path`/domains/${domain}`);
  const { data } = await api.get<DomainPage>('/domains', { name: domain, limit: 100 });
  const found = data.find(({ name }) => name === domain.toLowerCase());
  if (!found) throw notFound('Domain');
  return found;
}

function showDomain({ id, name, status, verifiedAt, records, optionalRecords }: Domain): Answer {
  const missing = records.filter((record) => record.required && record.status !== 'verified');
  const says =
    missing.length === 0
      ? `All required records of ${id} are there. Its status is ${status}.`
      : `${missing.length} required records of ${id} are missing or wrong: ${missing.map(({ record }) => record).join(', ')}. Its status is ${status}.`;
  return { says, foreign: { id, name, status, verifiedAt, records, optionalRecords } };
}
