/**
 * Where mail for a domain goes (RFC 5321 5.1): its MX hosts in order of preference, or the domain itself, as addresses
 * to try one after the other. Only DNS speaks here; whether an address may be dialled is decided where it is dialled.
 */
import { isIP } from 'node:net';
import { type DnsAnswer, isHostName, type MxRecord } from '../system/dns.ts';
import { type Random, shuffle } from '../system/random.ts';
import type { System } from '../system/system.ts';

export type MxHost = { name: string; addresses: string[] };

export type MxPlan =
  | { kind: 'hosts'; hosts: MxHost[] }
  /** The domain says that it takes no mail (RFC 7505 3). */
  | { kind: 'null-mx' }
  /** The domain does not exist. */
  | { kind: 'no-domain' }
  /** Not known now: to be tried again, never a verdict on an address (security.md finding 9). */
  | { kind: 'unresolved'; reason: string };

/** RFC 5321 5.1 asks for at least two addresses; more than five only delay the next attempt (engine.md 4). */
const ADDRESSES_LIMIT = 5;
/** Where there are several hosts, so that a first one that is down leaves room for the others. */
const ADDRESSES_PER_HOST_LIMIT = 3;
/** Hosts looked up for one plan; a domain may list any number. */
const LOOKUPS_LIMIT = 10;

export async function planMx(world: Pick<System, 'dns' | 'random'>, domain: string): Promise<MxPlan> {
  const answer = await world.dns.mx(domain);
  switch (answer.kind) {
    case 'no-name':
      return { kind: 'no-domain' };
    case 'failed':
      return { kind: 'unresolved', reason: `MX of ${domain}: ${answer.reason}` };
    case 'no-data':
      // RFC 5321 5.1: without MX records the domain is its own host.
      return planHosts(world, [domain]);
    case 'found':
      return planFound(world, domain, answer.records);
  }
}

function planFound(
  world: Pick<System, 'dns' | 'random'>,
  domain: string,
  records: readonly MxRecord[],
): Promise<MxPlan> | MxPlan {
  const names = inOrder(world.random, records);
  if (names.every((name) => name === '')) return { kind: 'null-mx' };
  // An MX names a host (RFC 1035 3.3.9); a literal, or a null MX beside others (RFC 7505 3), is none.
  const hosts = names.filter((name) => isHostName(name) && isIP(name) === 0);
  if (hosts.length === 0) return { kind: 'unresolved', reason: `the MX records of ${domain} name no host` };
  return planHosts(world, hosts);
}

/** By preference, the lowest first; in random order among equals (RFC 5321 5.1). Each name once. */
function inOrder(random: Random, records: readonly MxRecord[]): string[] {
  const sorted = shuffle(random, records).sort((a, b) => a.preference - b.preference);
  return [...new Set(sorted.map((record) => record.exchange.toLowerCase().replace(/\.$/, '')))];
}

async function planHosts(world: Pick<System, 'dns' | 'random'>, names: readonly string[]): Promise<MxPlan> {
  const perHost = names.length > 1 ? ADDRESSES_PER_HOST_LIMIT : ADDRESSES_LIMIT;
  const hosts: MxHost[] = [];
  const reasons: string[] = [];
  let free = ADDRESSES_LIMIT;
  for (const name of names.slice(0, LOOKUPS_LIMIT)) {
    const found = await lookUp(world, name);
    const addresses = found.addresses.slice(0, Math.min(perHost, free));
    if (addresses.length === 0) reasons.push(found.reason);
    else hosts.push({ name, addresses });
    free -= addresses.length;
    if (free === 0) break;
  }
  return hosts.length > 0 ? { kind: 'hosts', hosts } : { kind: 'unresolved', reason: reasons.join('; ') };
}

/** A host's addresses, both families in turn, IPv4 first: a machine without IPv6 then loses no time. */
async function lookUp(
  world: Pick<System, 'dns' | 'random'>,
  name: string,
): Promise<{ addresses: string[]; reason: string }> {
  const [a, aaaa] = await Promise.all([world.dns.a(name), world.dns.aaaa(name)]);
  const addresses = interleave(found(world.random, a), found(world.random, aaaa));
  return { addresses, reason: `${name}: ${whyNone(a, aaaa)}` };
}

function found(random: Random, answer: DnsAnswer<string>): string[] {
  return answer.kind === 'found' ? shuffle(random, answer.records) : [];
}

function interleave(first: readonly string[], second: readonly string[]): string[] {
  const longest = Math.max(first.length, second.length);
  const pairs = Array.from({ length: longest }, (_, index) => [first[index], second[index]]);
  return pairs.flat().filter((address) => address !== undefined);
}

function whyNone(...answers: readonly DnsAnswer<string>[]): string {
  const failed = answers.find((answer) => answer.kind === 'failed');
  return failed ? `lookup failed (${failed.reason})` : 'has no address';
}
