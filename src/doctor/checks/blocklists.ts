/**
 * Checks whether blocklists have the addresses of this machine (RFC 5782). Large lists refuse public resolvers, some with answers
 * that look like a listing, so through such a resolver nothing is known.
 */
import { blockList } from '../../system/blocklist.ts';
import { reverseLabels } from '../../system/dns/reverse-name.ts';
import type { DnsAnswer, DnsLookups } from '../../system/dns.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('blocklists');

/** Lists that large receivers ask, or that are known to tell what they ask. */
const ZONES = ['zen.spamhaus.org', 'bl.spamcop.net', 'psbl.surriel.com'];
/** Every answer that means something is in this block (RFC 5782 section 2.1). */
const ANSWERS = blockList(['127.0.0.0/8']);
/** Answers of lists to resolvers that they do not serve; 127.0.0.1 is no listing in any list (RFC 5782 section 5). */
const REFUSALS = blockList(['127.255.255.0/24', '127.0.0.1/32']);
/** Every working list has this address (RFC 5782 section 5). A list that lacks it does not answer our resolver. */
const LISTED_POINT = '2.0.0.127';
/** Resolvers that anybody may use, of Google, Cloudflare, Quad9, OpenDNS, AdGuard, Level 3 and Verisign. */
const PUBLIC_RESOLVERS = blockList([
  ...['8.8.8.8/32', '8.8.4.4/32', '2001:4860:4860::8888/128', '2001:4860:4860::8844/128'],
  ...['1.1.1.0/24', '1.0.0.0/24', '2606:4700:4700::/48', '9.9.9.0/24', '149.112.112.0/24', '2620:fe::/48'],
  ...['208.67.216.0/21', '2620:119:35::/48', '2620:119:53::/48', '94.140.14.0/23', '2a10:50c0::/32'],
  ...['4.2.2.0/29', '64.6.64.0/23'],
]);

type Answer = 'listed' | 'clear' | 'unknown';

export const blocklists = {
  name: 'blocklists',
  isForProduction: true,
  async run(context: Pick<CheckContext, 'dns' | 'addresses' | 'resolvers'>) {
    const addresses = await context.addresses();
    if (addresses.length === 0) return [];
    const resolver = findPublicResolver(context.resolvers());
    if (resolver !== undefined)
      return [notKnown('resolver', `${resolver} is a public resolver, which the lists do not answer`)];
    return (await Promise.all(ZONES.map((zone) => checkZone(context.dns.fresh, zone, addresses)))).flat();
  },
} satisfies Check;

async function checkZone(
  dns: Pick<DnsLookups, 'a'>,
  zone: string,
  addresses: readonly string[],
): Promise<Finding[]> {
  const answers = await Promise.all(
    [LISTED_POINT, ...addresses.map(labelsOf)].map((one) => ask(dns, one, zone)),
  );
  const [point, ...found] = answers;
  if (point !== 'listed' || found.includes('unknown'))
    return [notKnown(zone, 'the list does not answer the resolver of this machine')];
  const listed = addresses.filter((_, index) => found[index] === 'listed');
  if (listed.length === 0) return [ok(zone, `it has none of ${addresses.join(' and ')}`)];
  const advice = `end what made the list take it, then ask the list to remove it (https://${zone.split('.').slice(-2).join('.')})`;
  return [fail(zone, `it has ${listed.join(' and ')}`, advice)];
}

async function ask(dns: Pick<DnsLookups, 'a'>, labels: string, zone: string): Promise<Answer> {
  const answer = await dns.a(`${labels}.${zone}`);
  if (answer.kind === 'failed' || isWithin(answer, REFUSALS)) return 'unknown';
  return isWithin(answer, ANSWERS) ? 'listed' : 'clear';
}

function notKnown(subject: string, says: string): Finding {
  return warn(subject, `not known: ${says}`, 'run a resolver of your own on this machine, such as unbound');
}

/** Returns the first resolver that anybody may use. */
function findPublicResolver(resolvers: readonly string[]): string | undefined {
  return resolvers.map(withoutPort).find((address) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    return PUBLIC_RESOLVERS.check(address, family);
  });
}

function withoutPort(resolver: string): string {
  return /^\[(.+)\]/.exec(resolver)?.[1] ?? resolver.replace(/^([^:]+):\d+$/, '$1');
}

function labelsOf(address: string): string {
  return reverseLabels(address)?.labels ?? '';
}

function isWithin(answer: DnsAnswer<string>, block: CheckBlock): boolean {
  return answer.kind === 'found' && answer.records.some((address) => block.check(address, 'ipv4'));
}

type CheckBlock = ReturnType<typeof blockList>;
