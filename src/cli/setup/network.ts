/**
 * Checks what the internet sees of this machine: addresses, forward and reverse DNS, blocklists, and port 25. The checks are those of
 * `postrider doctor`; all but the last need no daemon.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { systemOptions } from '../../app.ts';
import type { Config } from '../../config/config.ts';
import type { DoctorAnswer } from '../../doctor/admin-api.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import { address } from '../../doctor/checks/address.ts';
import { blocklists } from '../../doctor/checks/blocklists.ts';
import { reverseDns } from '../../doctor/checks/reverse-dns.ts';
import { findAddresses } from '../../domains/operator-records.ts';
import { registrableDomain } from '../../mail/domain-names.ts';
import { createNameServerFinder, openAuthority } from '../../system/authority.ts';
import { createTargetGuard } from '../../system/blocklist.ts';
import { resolversInUse } from '../../system/dns/servers.ts';
import type { DnsLookups } from '../../system/dns.ts';
import { findSourceAddress } from '../../system/source-address.ts';
import { createSystem, type System } from '../../system/system.ts';
import type { ControlClient } from '../control-client.ts';
import type { Answers } from './answers.ts';

const { ok, warn } = findingsOf('addresses');

type OwnAddresses = {
  /** Addresses that the internet reaches this machine at, as far as the machine knows them. */
  found: readonly string[];
  findings: Finding[];
};

/** Returns the addresses: those that the operator named, or else the public ones that connections leave from. */
export async function findOwnAddresses({ addresses, isIpv4Only }: Answers): Promise<OwnAddresses> {
  if (addresses.length > 0)
    return { found: addresses, findings: [ok('this machine', addresses.join(' and '))] };
  const sources = await Promise.all([findSourceAddress(4), findSourceAddress(6)]);
  const own = sources.flatMap((one) => one ?? []);
  const isPublic = createTargetGuard({ allow: [], own: [] }).allows;
  const found = own.filter((one) => isPublic(one) && !(isIpv4Only && isIPv6(one)));
  const behind = own.find((one) => isIPv4(one) && !isPublic(one));
  if (behind !== undefined) return { found, findings: [translated(behind, found)] };
  if (found.length === 0)
    return {
      found,
      findings: [warn('this machine', 'it has no route to the internet', 'see to the network first')],
    };
  return { found, findings: [ok('this machine', found.join(' and '))] };
}

/** A machine behind NAT does not know its public address. */
function translated(own: string, others: readonly string[]): Finding {
  const also = others.length > 0 ? `, beside ${others.join(' and ')}` : '';
  return warn(
    'this machine',
    `it is behind NAT: ${own} is private${also}`,
    'forward the ports to it where the public address is, and name that address: --address 192.0.2.1',
  );
}

/** The outside world before there is a daemon. */
export type World = Pick<System, 'clock' | 'dns' | 'probeTls'> & {
  /** Lookups that leave no trace of a record that is not there yet. */
  authority: DnsLookups;
};

/** Opens the world that the configuration describes. */
export async function openWorld(config: Config, domain: string): Promise<World> {
  const system = createSystem({ ...systemOptions(config), logLevel: 'silent' });
  const names = [domain, config.hostname.toLowerCase()];
  const zones = await Promise.all(names.map(registrableDomain));
  const findNameServers = createNameServerFinder(system.clock, config.dns.servers);
  return { ...system, authority: await openAuthority(system, { zones, findNameServers }) };
}

/** Returns the findings about the host name, its addresses and the blocklists. */
export async function checkNetwork(
  world: World,
  config: Config,
  { isIpv4Only }: Answers,
): Promise<Finding[]> {
  const lookups = { fresh: world.authority };
  const addresses = await findAddresses(world.authority, config);
  const context = {
    ...world,
    config,
    addresses: async () => addresses,
    resolvers: () => resolversInUse(config.dns.servers),
  };
  const [forward, reverse, listed] = await Promise.all([
    address.run({ config, dns: lookups }),
    reverseDns.run(context),
    blocklists.run(context),
  ]);
  return [
    ...forward,
    ...reverse.map((finding) => (isIpv4Only ? finding : adviseIpv4Only(finding))),
    ...listed,
  ];
}

/** Reverse DNS of IPv6 is often out of reach, and large receivers insist on it. */
function adviseIpv4Only(finding: Finding): Finding {
  if (finding.level !== 'fail' || !isIPv6(finding.subject)) return finding;
  return { ...finding, advice: `${finding.advice}, or send over IPv4 alone: postrider setup --ipv4-only` };
}

/**
 * Has the daemon find out whether mail can leave, since it knows the relays. A daemon that was restored from a backup dials nothing.
 */
export async function checkOutbound(control: Pick<ControlClient, 'request'>): Promise<Finding[]> {
  const { findings } = await control.request<DoctorAnswer>('GET', '/doctor?check=outbound-port');
  const advice =
    'ask your provider to open outgoing port 25, or send through a relay: postrider setup --relay smtp://USER@HOST';
  return findings.map((finding) => (finding.level === 'fail' ? { ...finding, advice } : finding));
}
