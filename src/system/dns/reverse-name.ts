/** The name at which the DNS publishes the names of an address. */
import ipaddr from 'ipaddr.js';

/**
 * Returns the name for a PTR lookup (RFC 1035 section 3.5, RFC 3596 section 2.5), or undefined when the text is not an
 * IP address. An IPv4-mapped IPv6 address counts as the IPv4 address in it.
 */
export function reverseName(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  const labels =
    parsed instanceof ipaddr.IPv4
      ? parsed.octets.map(String)
      : parsed.toByteArray().flatMap((byte) => [(byte >> 4).toString(16), (byte & 15).toString(16)]);
  return `${labels.reverse().join('.')}.${parsed instanceof ipaddr.IPv4 ? 'in-addr' : 'ip6'}.arpa`;
}
