/**
 * The network that a client's address belongs to. Limits for each client count networks, because one client of IPv6 has
 * a whole /64 of addresses.
 */
import { isIPv6 } from 'node:net';
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
