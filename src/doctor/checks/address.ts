/** Checks that the hostname leads to this machine. */
import type { DnsAnswer, DnsLookups } from '../../system/dns.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('address');

type AddressContext = Pick<CheckContext, 'config'> & { dns: { fresh: Pick<DnsLookups, 'a' | 'aaaa'> } };

const PUBLISH = 'publish A and AAAA records for it, as "postrider domain records" prints them';

export const address = {
  name: 'address',
  isForProduction: true,
  async run({ dns, config }: AddressContext) {
    const { hostname } = config;
    const answers = await Promise.all([dns.fresh.a(hostname), dns.fresh.aaaa(hostname)]);
    const failure = answers.find((answer) => answer.kind === 'failed');
    const found = answers.flatMap(addressesOf);
    if (failure?.kind === 'failed' && found.length === 0) {
      const advice = 'check that the resolver runs and may be reached (dns.servers, /etc/resolv.conf)';
      return [
        fail(
          hostname,
          `DNS does not answer (${failure.reason}), so hardly any mail can be delivered`,
          advice,
        ),
      ];
    }
    if (found.length === 0) return [fail(hostname, 'it has no address in DNS', PUBLISH)];
    return compare(hostname, found, config.domains.addresses);
  },
} satisfies Check;

/** Compares the addresses of DNS with those of the configuration, which say where mail leaves from. */
function compare(hostname: string, found: readonly string[], configured: readonly string[]): Finding[] {
  const missing = configured.filter((one) => !found.includes(one));
  if (missing.length === 0) return [ok(hostname, `it leads to ${found.join(' and ')}`)];
  const says = `DNS has ${found.join(' and ')}, but not ${missing.join(' and ')} of domains.addresses`;
  return [warn(hostname, says, PUBLISH)];
}

function addressesOf(answer: DnsAnswer<string>): string[] {
  return answer.kind === 'found' ? answer.records : [];
}
