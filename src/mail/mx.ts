/**
 * Resolves where mail for a domain goes (RFC 5321 section 5.1): its MX hosts in order of preference, or the domain itself, as
 * addresses to try one after the other. Addresses that must not be dialled are left out as if DNS did not have them, so
 * that no diagnostic tells the sender of the mail which names have private addresses; `dial` refuses them once more.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { NO_PUBLIC_ADDRESS } from '../system/blocklist.ts';
import { TimeoutError, withTimeout } from '../system/clock.ts';
import type { Proof } from '../system/dns/answer.ts';
import { type DnsAnswer, isHostName, type MxRecord } from '../system/dns.ts';
import { type Random, shuffle } from '../system/random.ts';
import type { System } from '../system/system.ts';
import type { NamedHost } from './tls-policy/dane-lookup.ts';
import type { HostTls, QualifiedHost } from './tls-policy/host-tls.ts';

/** One host. `name` is in lower case and without a final dot. `tls` is what the caller's `qualify` says; absent without one. */
type MxHost = { name: string; addresses: string[]; tls?: HostTls; isNameProven?: true };

/** DNSSEC proves which hosts a domain has. `aliasTarget` is the name that has the MX records, when the domain is an alias of it. */
export type MxProof = { aliasTarget?: string };

/** Decides what a session with a host must prove. `mxProof` is undefined when nothing proves which hosts the domain has. */
type Qualify = (host: NamedHost & { mxProof: MxProof | undefined }) => Promise<QualifiedHost>;

export type MxPlan =
  | {
      kind: 'hosts';
      hosts: MxHost[];
      /**
       * Identifies the receiving system. It is equal for all domains whose mail goes to the same hosts in the same order of
       * preference, whatever their addresses are. Hosts of equal preference are joined with commas, and these groups with slashes:
       * `mx1.example,mx2.example/backup.example`.
       */
      site: string;
      /** Time for which the plan remains valid, in milliseconds. */
      ttlMs: number;
      /** Absent when nothing proves which hosts the domain has. */
      mxProof?: MxProof;
    }
  /** The domain declares that it accepts no mail (RFC 7505 section 3). */
  | { kind: 'null-mx' }
  /** The domain does not exist. */
  | { kind: 'no-domain' }
  /** The mail would return to this machine, which does not accept it (RFC 5321 section 5.1). */
  | { kind: 'loop' }
  /**
   * DNS has answered, and the domain has no host with an address that may be dialled. A mistake of its owner may be mended within hours.
   */
  | { kind: 'no-address'; reason: string }
  /** The hosts are not known at the moment. The caller retries; this is never a verdict on an address. */
  | { kind: 'unresolved'; reason: string };

type MxWorld = Pick<System, 'clock' | 'dns' | 'random' | 'targets'> & {
  /** Configuration. `hostname` is the name of this machine; without `ipv6`, hosts have IPv4 addresses alone. */
  config: { hostname: string; outbound?: { ipv6: boolean } };
};

/** Maximum time for MX and address lookups together, however slow the resolver is. */
const PLAN_TIMEOUT_MS = 60_000;
/**
 * Maximum number of addresses of a plan. RFC 5321 section 5.1 asks for at least two; more than five only delay the next
 * attempt.
 */
const MAX_ADDRESSES = 5;
/**
 * Maximum number of addresses of one host when there are several hosts, so that the addresses of an unreachable first
 * host do not use up the plan.
 */
const MAX_ADDRESSES_PER_HOST = 3;
/** Maximum number of hosts that are looked up for one plan. A domain may list any number. */
const MAX_LOOKUPS = 10;
/**
 * Minimum lifetime of a plan. It applies when lookups failed or the records must not be cached, so that a plan is not
 * made again for each message.
 */
const MIN_TTL_MS = 30_000;
/** Maximum lifetime of a plan through relays, which applies when all of them are IP addresses. */
const MAX_RELAY_TTL_MS = 3_600_000;
/** Maximum length of a site's key. Longer ones, of domains with dozens of hosts, are hashed. */
const MAX_SITE_CHARACTERS = 1_000;

/** Plans the delivery to a domain. It never rejects because of DNS. */
export function planMx(world: MxWorld, domain: string, qualify?: Qualify): Promise<MxPlan> {
  return planInTime(world, domain, (bounded) => plan({ ...bounded, qualify }, domain));
}

/**
 * Plans the delivery through relays, in the order of their names. A relay is a host name or an IP address, and has no MX records
 * of its own here. It never rejects because of DNS.
 */
export function planRelays(world: MxWorld, names: readonly string[]): Promise<MxPlan> {
  return planInTime(world, names.join(', '), (bounded) =>
    planHosts(
      bounded,
      names.map((name) => [name]),
      { ttlMs: MAX_RELAY_TTL_MS },
    ),
  );
}

async function planInTime(
  world: MxWorld,
  what: string,
  makePlan: (bounded: BoundedWorld) => Promise<MxPlan>,
): Promise<MxPlan> {
  try {
    const bounded = { ...world, deadline: world.clock.elapsed() + PLAN_TIMEOUT_MS };
    const limit = { timeoutMs: PLAN_TIMEOUT_MS, what: `resolving ${what}` };
    return await withTimeout(world.clock, makePlan(bounded), limit);
  } catch (error) {
    if (error instanceof TimeoutError) return { kind: 'unresolved', reason: error.message };
    throw error;
  }
}

/**
 * The world with a time limit. `deadline` is a time of the monotonic clock, in milliseconds; no lookup starts after
 * it, because the caller no longer waits.
 */
type BoundedWorld = MxWorld & { deadline: number; qualify?: Qualify | undefined };

async function plan(world: BoundedWorld, domain: string): Promise<MxPlan> {
  const answer = await world.dns.mx(domain);
  switch (answer.kind) {
    case 'no-name':
      return { kind: 'no-domain' };
    case 'failed':
      return { kind: 'unresolved', reason: `MX of ${domain}: ${answer.reason}` };
    case 'no-data':
      // A domain that has no MX records is its own host (RFC 5321 section 5.1).
      return planFound(world, domain, {
        records: [{ exchange: domain, preference: 0 }],
        ttlMs: answer.ttlMs,
        mxProof: mxProofOf(answer),
      });
    case 'found':
      return planFound(world, domain, { ...answer, mxProof: mxProofOf(answer) });
  }
}

function mxProofOf({ isSecure, aliasTarget }: Proof): MxProof | undefined {
  return isSecure && { ...(aliasTarget !== undefined && { aliasTarget }) };
}

type MxRecords = { records: readonly MxRecord[]; ttlMs: number; mxProof?: MxProof | undefined };

function planFound(
  world: BoundedWorld,
  domain: string,
  { records, ttlMs, mxProof }: MxRecords,
): Promise<MxPlan> | MxPlan {
  const named = records.map(({ exchange, preference }) => ({ exchange: canonical(exchange), preference }));
  if (named.every(({ exchange }) => exchange === '')) return { kind: 'null-mx' };
  const relays = beforeThisHost(named, canonical(world.config.hostname));
  if (relays.length === 0) return { kind: 'loop' };
  // An MX names a host (RFC 1035 section 3.3.9). An IP literal is not one, and neither is a null MX beside other
  // records (RFC 7505 section 3).
  const hosts = relays.filter(({ exchange }) => isHostName(exchange) && isIP(exchange) === 0);
  if (hosts.length === 0) return { kind: 'no-address', reason: namesNoHost(domain, relays) };
  return planHosts(world, groupsOf(hosts), { ttlMs, mxProof });
}

/** Returns the name in the form in which names are compared (RFC 1035 section 2.3.3). */
function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/**
 * Returns the hosts to which this machine may relay. A host that finds itself in the list must ignore itself and all
 * hosts of equal or lower priority, because they would send the mail back (RFC 5321 section 5.1). An empty result
 * means that there is no host to send the mail to.
 */
function beforeThisHost(records: readonly MxRecord[], hostname: string): readonly MxRecord[] {
  const own = records.filter(({ exchange }) => exchange === hostname);
  const limit = Math.min(...own.map(({ preference }) => preference));
  return records.filter(({ preference }) => preference < limit);
}

/** Maximum number of malformed MX records that a reason shows. */
const MAX_SHOWN = 3;

function namesNoHost(domain: string, records: readonly MxRecord[]): string {
  const shown = records.slice(0, MAX_SHOWN).map(({ exchange }) => `"${exchange}"`);
  return `the MX records of ${domain} must name hosts, and name ${shown.join(', ')}`;
}

/** Returns the names of each preference, the lowest first. Each name occurs once. */
function groupsOf(records: readonly MxRecord[]): string[][] {
  const lowest = new Map<string, number>();
  for (const { exchange, preference } of records)
    lowest.set(exchange, Math.min(preference, lowest.get(exchange) ?? preference));
  const groups = Map.groupBy(lowest.keys(), (name) => lowest.get(name) ?? 0);
  return [...groups].sort(([one], [other]) => one - other).map(([, names]) => names);
}

/**
 * Looks up hosts until the plan has enough addresses. `groups` are distinct host names by preference, which are tried in random order
 * among equals (RFC 5321 section 5.1).
 */
async function planHosts(
  world: BoundedWorld,
  groups: readonly (readonly string[])[],
  { ttlMs: mxTtlMs, mxProof }: Omit<MxRecords, 'records'>,
): Promise<MxPlan> {
  const names = groups.flatMap((group) => shuffle(world.random, group));
  const perHost = names.length > 1 ? MAX_ADDRESSES_PER_HOST : MAX_ADDRESSES;
  const hosts: MxHost[] = [];
  const reasons: string[] = [];
  let free = MAX_ADDRESSES;
  let ttlMs = mxTtlMs;
  let isKnown = names.length <= MAX_LOOKUPS;
  for (const name of names.slice(0, MAX_LOOKUPS)) {
    if (world.clock.elapsed() >= world.deadline) {
      isKnown = false;
      break;
    }
    const found = await lookUp(world, name);
    const addresses = found.addresses.slice(0, Math.min(perHost, free));
    isKnown &&= found.isKnown;
    ttlMs = Math.min(ttlMs, found.ttlMs);
    if (addresses.length === 0) {
      reasons.push(found.reason);
      continue;
    }
    const qualified = await world.qualify?.({ ...found.host, name, mxProof });
    hosts.push({ name, addresses, ...(qualified && requirementOf(qualified)) });
    ttlMs = Math.min(ttlMs, qualified?.ttlMs ?? ttlMs);
    // A host that is refused takes no address away from those that are used.
    if (qualified?.tls.kind !== 'refused') free -= addresses.length;
    if (free === 0) break;
  }
  if (hosts.length === 0) return { kind: isKnown ? 'no-address' : 'unresolved', reason: reasons.join('; ') };
  const plan = { kind: 'hosts', hosts, site: siteOf(groups), ttlMs: Math.max(ttlMs, MIN_TTL_MS) } as const;
  return mxProof ? { ...plan, mxProof } : plan;
}

function requirementOf({ tls, isNameProven }: QualifiedHost): Pick<MxHost, 'tls' | 'isNameProven'> {
  return isNameProven ? { tls, isNameProven } : { tls };
}

function siteOf(groups: readonly (readonly string[])[]): string {
  const site = groups.map((names) => names.toSorted().join(',')).join('/');
  return site.length <= MAX_SITE_CHARACTERS ? site : createHash('sha256').update(site).digest('hex');
}

type Found = {
  addresses: string[];
  reason: string;
  ttlMs: number;
  /** True when DNS has answered about all addresses of the host. */
  isKnown: boolean;
  /** The facts about the addresses that DNSSEC proves. */
  host: Omit<NamedHost, 'name'>;
};

/**
 * Returns a host's public addresses, IPv4 and IPv6 alternating, IPv4 first, so that a machine without IPv6 loses no
 * time. Each family counts for itself: some servers answer that a host does not exist when asked for the family that it lacks.
 */
async function lookUp(world: MxWorld, name: string): Promise<Found> {
  if (isIP(name) !== 0) {
    const addresses = world.targets.keepAllowed(name, [name]);
    const reason = `${name} ${NO_PUBLIC_ADDRESS}`;
    return { addresses, reason, ttlMs: MAX_RELAY_TTL_MS, isKnown: true, host: { isSecure: false } };
  }
  const usesIPv6 = world.config.outbound?.ipv6 ?? true;
  const [a, aaaa] = await Promise.all([world.dns.a(name), usesIPv6 ? world.dns.aaaa(name) : NO_ADDRESS]);
  const all = interleave(found(world.random, a), found(world.random, aaaa));
  const addresses = world.targets.keepAllowed(name, all);
  const ttlMs = Math.min(holdsMs(a), holdsMs(aaaa));
  const host = proofOf([a, aaaa].filter((answer) => answer.kind === 'found'));
  if (addresses.length === 0 && !usesIPv6 && (await hasIPv6(world, name)))
    return { addresses, reason: `${name}: ${IPV6_ALONE}`, ttlMs, isKnown: false, host };
  const isKnown = a.kind !== 'failed' && aaaa.kind !== 'failed';
  return { addresses, reason: `${name}: ${whyNone(a, aaaa)}`, ttlMs, isKnown, host };
}

async function hasIPv6({ dns, targets }: MxWorld, name: string): Promise<boolean> {
  const answer = await dns.aaaa(name);
  return answer.kind === 'found' && targets.keepAllowed(name, answer.records).length > 0;
}

/** The operator can mend this, so it is no fact about the domain. */
const IPV6_ALONE = 'has IPv6 addresses alone, and this machine sends over IPv4';

/** Returns what DNSSEC proves of the answers with addresses. All of them must be secure. */
function proofOf(answers: readonly Extract<DnsAnswer<string>, { kind: 'found' }>[]): Found['host'] {
  const isSecure = answers.length > 0 && answers.every((answer) => answer.isSecure === true);
  return { isSecure, aliasTarget: answers[0]?.aliasTarget };
}

const NO_ADDRESS: DnsAnswer<string> = { kind: 'no-data', ttlMs: Number.POSITIVE_INFINITY };

/** Returns the time for which an answer remains valid. A failed lookup counts as 0, so that it is repeated soon. */
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
