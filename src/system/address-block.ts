/**
 * The spelling of a client's address, and the blocks of addresses that it belongs to. Limits for each client count blocks, because
 * one client of IPv6 has a whole network of addresses (/64), and often a whole site of networks (/48).
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Number of 16-bit groups that identify a network (RFC 4291 section 2.5.1). The other half of an IPv6 address identifies
 * an interface.
 */
const IPV6_PREFIX_GROUPS = 4;

/**
 * Number of 16-bit groups that all addresses of one site have in common: providers give a site up to a /48 (RFC 6177), which
 * holds 65,536 networks.
 */
const IPV6_SITE_GROUPS = 3;
/**
 * A site may have this many times the limit of one network. It bounds a client that uses a network of its own for each
 * connection, while a large mailbox provider, whose servers stand in many networks of a few sites, never reaches it.
 */
export const SITE_FACTOR = 16;

type CountedBlock = {
  name: string;
  /** Number of times that the block may have the limit of one client. */
  factor: number;
};

/** Returns an IPv4 address itself, also in its IPv6 form, and the first half of an IPv6 address. */
export function addressBlock(address: string): string {
  return firstGroups(address, IPV6_PREFIX_GROUPS);
}

/** Returns the name under which a client shares threads and memory with others: the site of an IPv6 address. */
export function addressSite(address: string): string {
  return firstGroups(address, IPV6_SITE_GROUPS);
}

/** Returns the name of the network that fills a listener together: the /24 of an IPv4 address, and the site of an IPv6 address. */
export function addressNetwork(address: string): string {
  const site = addressSite(address);
  return isIPv4(site) ? site.slice(0, site.lastIndexOf('.')) : site;
}

/** Returns the blocks to which the limits for each address count a client, the smallest first: an IPv4 address is one. */
export function countedBlocks(address: string): CountedBlock[] {
  const [block, site] = [addressBlock(address), addressSite(address)];
  const counted = [{ name: block, factor: 1 }];
  return site === block ? counted : [...counted, { name: site, factor: SITE_FACTOR }];
}

function firstGroups(address: string, groups: number): string {
  // Fast path: each message of a client asks several times, and `isIPv6` matches a long pattern.
  if (!address.includes(':') || !isIPv6(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toNormalizedString().split(':').slice(0, groups).join(':');
}

/**
 * Returns one spelling for all forms of an address: `::ffff:192.0.2.1` becomes `192.0.2.1`. Other text is returned
 * unchanged.
 */
export function plainAddress(text: string): string {
  // Fast path: an IPv4 address has one spelling, and each connection asks several times.
  if (!text.includes(':')) return text;
  return isIP(text) === 0 || hasZone(text) ? text : ipaddr.process(text).toString();
}

/** An address with a zone, such as `fe80::1%eth0`, means nothing outside the link of the machine that named it. */
export function hasZone(address: string): boolean {
  return address.includes('%');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns true for an address that only this machine reaches (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
