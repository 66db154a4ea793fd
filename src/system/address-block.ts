/**
 * The spelling of a client's address, and the network that it belongs to. Limits for each client count networks, because one
 * client of IPv6 has a whole /64 of addresses.
 */
import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Number of 16-bit groups that identify a network (RFC 4291 section 2.5.1). The other half of an IPv6 address identifies
 * an interface.
 */
const IPV6_PREFIX_GROUPS = 4;

/** Returns an IPv4 address itself, also in its IPv6 form, and the first half of an IPv6 address. */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toNormalizedString().split(':').slice(0, IPV6_PREFIX_GROUPS).join(':');
}

/**
 * Returns one spelling for all forms of an address: `::ffff:192.0.2.1` becomes `192.0.2.1`. Other text is returned
 * unchanged.
 */
export function plainAddress(text: string): string {
  return isIP(text) === 0 || hasZone(text) ? text : ipaddr.process(text).toString();
}

/** An address with a zone, such as `fe80::1%eth0`, means nothing outside the link of the machine that named it. */
export function hasZone(address: string): boolean {
  return address.includes('%');
}
