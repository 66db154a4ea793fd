/**
 * Resolves where mail for a domain goes (RFC 5321 5.1): its MX hosts in order of preference, or the domain itself, as
 * addresses to try one after the other. Addresses that must not be dialled are left out as if DNS did not have them, so
 * that no diagnostic tells the sender of the mail which names have private addresses; `dial` refuses them once more.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { NO_PUBLIC_ADDRESS } from '../system/blocklist.ts';
import { TimeoutError, withTimeout } from '../system/clock.ts';
import { type DnsAnswer, isHostName, type MxRecord } from '../system/dns.ts';
import { type Random, shuffle } from '../system/random.ts';
import type { System } from '../system/system.ts';

/** `name`: in lower case, without a final dot. */
export type MxHost = { name: string; addresses: string[] };

export type MxPlan =
  | {
      kind: 'hosts';
      hosts: MxHost[];
      /** The same for all domains whose mail goes to the same hosts, whatever their order and addresses (engine.md 4). */
      site: string;
      /** How long the plan holds. */
      ttlMs: number;
    }
  /** The domain says that it takes no mail (RFC 7505 3). */
  | { kind: 'null-mx' }
  /** The domain does not exist. */
  | { kind: 'no-domain' }
  /** The mail would come back to this machine, which does not take it (RFC 5321 5.1). */
  | { kind: 'loop' }
  /** Not known now: to be tried again, never a verdict on an address (security.md finding 9). */
  | { kind: 'unresolved'; reason: string };

export type MxWorld = Pick<System, 'clock' | 'dns' | 'random' | 'targets'> & {
  /** `hostname`: this machine's. */
  config: { hostname: string };
};

/** security.md 3: MX and addresses together, however slow the resolver. */
const PLAN_TIMEOUT_MS = 60_000;
/** RFC 5321 5.1 asks for at least two addresses; more than five only delay the next attempt (engine.md 4). */
const MAX_ADDRESSES = 5;
/** Where there are several hosts, so that a first one that is down leaves room for the others. */
const MAX_ADDRESSES_PER_HOST = 3;
/** Hosts looked up for one plan; a domain may list any number. */
const MAX_LOOKUPS = 10;
/** A plan without all the hosts there are, or whose records must not be kept at all, is not made anew for each mail. */
const MIN_TTL_MS = 30_000;
/** Longer ones, of domains with dozens of hosts, are hashed. */
const MAX_SITE_CHARACTERS = 1_000;

/** Never rejects. */
export async function planMx(world: MxWorld, domain: string): Promise<MxPlan> {
  try {
    const bounded = { ...world, deadline: world.clock.elapsed() + PLAN_TIMEOUT_MS };
    return await withTimeout(world.clock, PLAN_TIMEOUT_MS, `resolving ${domain}`, plan(bounded, domain));
  } catch (error) {
    if (error instanceof TimeoutError) return { kind: 'unresolved', reason: error.message };
    throw error;
  }
}

/**
 * `deadline` is a time of the monotonic clock. Later lookups are not made, since the caller no longer waits for them.
 */
type BoundedWorld = MxWorld & { deadline: number };

async function plan(world: BoundedWorld, domain: string): Promise<MxPlan> {
  const answer = await world.dns.mx(domain);
  switch (answer.kind) {
    case 'no-name':
      return { kind: 'no-domain' };
    case 'failed':
      return { kind: 'unresolved', reason: `MX of ${domain}: ${answer.reason}` };
    case 'no-data':
      // RFC 5321 5.1: without MX records the domain is its own host.
      return planFound(world, domain, {
        records: [{ exchange: domain, preference: 0 }],
        ttlMs: answer.ttlMs,
      });
    case 'found':
      return planFound(world, domain, answer);
  }
}

type MxRecords = { records: readonly MxRecord[]; ttlMs: number };

function planFound(
  world: BoundedWorld,
  domain: string,
  { records, ttlMs }: MxRecords,
): Promise<MxPlan> | MxPlan {
  const named = records.map(({ exchange, preference }) => ({ exchange: canonical(exchange), preference }));
  if (named.every(({ exchange }) => exchange === '')) return { kind: 'null-mx' };
  const relays = beforeThisHost(named, canonical(world.config.hostname));
  if (relays.length === 0) return { kind: 'loop' };
  // An MX names a host (RFC 1035 3.3.9); a literal, or a null MX beside others (RFC 7505 3), is none.
  const hosts = inOrder(world.random, relays).filter((name) => isHostName(name) && isIP(name) === 0);
  if (hosts.length === 0) return { kind: 'unresolved', reason: `the MX records of ${domain} name no host` };
  return planHosts(world, hosts, ttlMs);
}

/** RFC 1035 2.3.3. */
function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/**
 * RFC 5321 5.1: a host that finds itself in the list leaves out itself and all that are no better; they would only send
 * the mail back here. When none is left, there is nowhere to send it.
 */
function beforeThisHost(records: readonly MxRecord[], hostname: string): readonly MxRecord[] {
  const own = records.filter(({ exchange }) => exchange === hostname);
  const limit = Math.min(...own.map(({ preference }) => preference));
  return records.filter(({ preference }) => preference < limit);
}

/** By preference, the lowest first; in random order among equals (RFC 5321 5.1). Each name once. */
function inOrder(random: Random, records: readonly MxRecord[]): string[] {
  const sorted = shuffle(random, records).sort((a, b) => a.preference - b.preference);
  return [...new Set(sorted.map(({ exchange }) => exchange))];
}

/** `names` are host names, each once. */
async function planHosts(world: BoundedWorld, names: readonly string[], mxTtlMs: number): Promise<MxPlan> {
  const perHost = names.length > 1 ? MAX_ADDRESSES_PER_HOST : MAX_ADDRESSES;
  const hosts: MxHost[] = [];
  const reasons: string[] = [];
  let free = MAX_ADDRESSES;
  let ttlMs = mxTtlMs;
  for (const name of names.slice(0, MAX_LOOKUPS)) {
    if (world.clock.elapsed() >= world.deadline) break;
    const found = await lookUp(world, name);
    const addresses = found.addresses.slice(0, Math.min(perHost, free));
    if (addresses.length === 0) reasons.push(found.reason);
    else hosts.push({ name, addresses });
    ttlMs = Math.min(ttlMs, found.ttlMs);
    free -= addresses.length;
    if (free === 0) break;
  }
  if (hosts.length === 0) return { kind: 'unresolved', reason: reasons.join('; ') };
  return { kind: 'hosts', hosts, site: siteOf(names), ttlMs: Math.max(ttlMs, MIN_TTL_MS) };
}

function siteOf(names: readonly string[]): string {
  const site = [...names].sort().join(',');
  return site.length <= MAX_SITE_CHARACTERS ? site : createHash('sha256').update(site).digest('hex');
}

type Found = { addresses: string[]; reason: string; ttlMs: number };

/**
 * Returns a host's public addresses, IPv4 and IPv6 alternating, IPv4 first, so that a machine without IPv6 loses no
 * time.
 */
async function lookUp(world: MxWorld, name: string): Promise<Found> {
  const [a, aaaa] = await Promise.all([world.dns.a(name), world.dns.aaaa(name)]);
  return {
    addresses: world.targets.keepAllowed(name, interleave(found(world.random, a), found(world.random, aaaa))),
    reason: `${name}: ${whyNone(a, aaaa)}`,
    ttlMs: Math.min(holdsMs(a), holdsMs(aaaa)),
  };
}

/** What is missing because it could not be looked up is looked up again soon. */
function holdsMs(answer: DnsAnswer<string>): number {
  if (answer.kind === 'failed') return 0;
  return answer.kind === 'found' ? answer.ttlMs : Number.POSITIVE_INFINITY;
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
  return failed ? `lookup failed (${failed.reason})` : NO_PUBLIC_ADDRESS;
}
