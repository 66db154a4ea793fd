/**
 * Checks the reverse DNS of each address: its PTR record names a host that has the address (forward-confirmed). Large receivers
 * refuse mail from addresses without it, over IPv6 most of all.
 */
import { isIPv6 } from 'node:net';
import { plainAddress } from '../../system/address-block.ts';
import { reverseName } from '../../system/dns/reverse-name.ts';
import type { DnsLookups } from '../../system/dns.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('reverse-dns');

/** Maximum number of names of an address that are looked up. */
const MAX_NAMES = 5;

export const reverseDns = {
  name: 'reverse-dns',
  isForProduction: true,
  async run({ dns, addresses, config }: Pick<CheckContext, 'dns' | 'addresses' | 'config'>) {
    const hostname = config.hostname.toLowerCase();
    return Promise.all((await addresses()).map((one) => check(dns.fresh, one, hostname)));
  },
} satisfies Check;

async function check(
  dns: Pick<DnsLookups, 'ptr' | 'a' | 'aaaa'>,
  address: string,
  hostname: string,
): Promise<Finding> {
  const advice = `set the reverse DNS (PTR) of ${address} to ${hostname} where you rent the address`;
  const answer = await dns.ptr(reverseName(address) ?? '');
  if (answer.kind === 'failed')
    return warn(address, `its reverse DNS is not known (${answer.reason})`, 'try again later');
  const names = answer.kind === 'found' ? answer.records.slice(0, MAX_NAMES) : [];
  if (names.length === 0) return fail(address, 'it has no reverse DNS', advice);
  const confirmed = await Promise.all(names.map((name) => leadsTo(dns, name, address)));
  const good = names.filter((_, index) => confirmed[index]);
  const shown = cleanForeignText(names.join(', '));
  if (good.includes(hostname)) return ok(address, `it leads back to ${hostname}`);
  if (good.length > 0) return warn(address, `its reverse DNS names ${shown} instead of ${hostname}`, advice);
  return fail(address, `its reverse DNS names ${shown}, which does not lead to it`, advice);
}

async function leadsTo(dns: Pick<DnsLookups, 'a' | 'aaaa'>, name: string, address: string): Promise<boolean> {
  const answer = await (isIPv6(address) ? dns.aaaa(name) : dns.a(name));
  return answer.kind === 'found' && answer.records.map(plainAddress).includes(plainAddress(address));
}
