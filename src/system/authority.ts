/**
 * Lookups that ask the name servers of a zone themselves. They know of a new record at once, and a question about a record that is not
 * there yet leaves no trace: a resolver would remember for as long as the zone says that there is none (RFC 2308).
 */
import { Resolver } from 'node:dns/promises';
import type { TargetGuard } from './blocklist.ts';
import { type Clock, TimeoutError, withTimeout } from './clock.ts';
import { resolversInUse } from './dns/servers.ts';
import { createDns, type Dns, type DnsAnswer, type DnsLookups } from './dns.ts';

type AuthorityWorld = { clock: Clock; dns: Pick<Dns, 'fresh'>; targets: TargetGuard };

/** Maximum number of name servers of a zone whose addresses are looked up. */
const MAX_NAME_SERVERS = 4;
/** Maximum time of the question for the name servers, in milliseconds. */
const TIMEOUT_MS = 5_000;

/** Returns the host names of the name servers of a zone; none when they cannot be found. */
type FindNameServers = (zone: string) => Promise<readonly string[]>;

/** Returns the function that asks the resolvers of the configuration, or else those of the machine. */
export function createNameServerFinder(clock: Clock, servers: readonly string[]): FindNameServers {
  return async (zone) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
    resolver.setServers([...resolversInUse(servers)]);
    try {
      return await withTimeout(clock, resolver.resolveNs(zone), { timeoutMs: TIMEOUT_MS, what: 'NS' });
    } catch (error) {
      if (error instanceof TimeoutError) resolver.cancel();
      return [];
    }
  };
}

type Authorities = {
  /** Zones that exist already, such as those of registered domains. Names in no other zone are asked of the resolver. */
  zones: readonly string[];
  findNameServers: FindNameServers;
  /** Port of the name servers; only tests need another one than that of DNS. */
  port?: number;
};

/**
 * Returns lookups that ask the name servers of these zones, and the resolver about names outside them. Where the name servers give no
 * answer, such as for a name in a zone that they delegate, the resolver is asked too.
 */
export async function openAuthority(
  { clock, dns, targets }: AuthorityWorld,
  { zones, findNameServers, port = 53 }: Authorities,
): Promise<DnsLookups> {
  const opened = new Map<string, DnsLookups>();
  for (const zone of new Set(zones)) {
    const hosts = (await findNameServers(zone)).slice(0, MAX_NAME_SERVERS);
    const addresses = await Promise.all(hosts.map((host) => dns.fresh.a(host)));
    const found = addresses.flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
    const servers = targets.keepAllowed(zone, found).map((address) => `${address}:${port}`);
    if (servers.length > 0) opened.set(zone, createDns({ clock, servers }).fresh);
  }
  const zoneOf = (name: string) => [...opened.keys()].find((zone) => `.${name}`.endsWith(`.${zone}`));
  const ask =
    <Value>(look: (lookups: DnsLookups, name: string) => Promise<DnsAnswer<Value>>) =>
    async (name: string): Promise<DnsAnswer<Value>> => {
      const authority = opened.get(zoneOf(name.toLowerCase()) ?? '');
      const answer = authority && (await look(authority, name));
      return answer === undefined || answer.kind === 'failed' ? look(dns.fresh, name) : answer;
    };
  return {
    mx: ask((lookups, name) => lookups.mx(name)),
    a: ask((lookups, name) => lookups.a(name)),
    aaaa: ask((lookups, name) => lookups.aaaa(name)),
    txt: ask((lookups, name) => lookups.txt(name)),
    cname: ask((lookups, name) => lookups.cname(name)),
    ptr: ask((lookups, name) => lookups.ptr(name)),
    srv: ask((lookups, name) => lookups.srv(name)),
    tlsa: ask((lookups, name) => lookups.tlsa(name)),
    caa: ask((lookups, name) => lookups.caa(name)),
  };
}
