/** The names under which the DNS publishes what it knows about an address. */
import ipaddr from 'ipaddr.js';

/** The labels of an address, with the last part of the address first. */
type ReverseLabels = { kind: 'ipv4' | 'ipv6'; labels: string };

/**
 * Returns the labels under which the DNS has an address: four numbers, or 32 nibbles. Undefined when the text is not an IP
 * address. An IPv4-mapped IPv6 address counts as the IPv4 address in it.
 */
export function reverseLabels(address: string): ReverseLabels | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  const labels =
    parsed instanceof ipaddr.IPv4
      ? parsed.octets.map(String)
      : parsed.toByteArray().flatMap((byte) => [(byte >> 4).toString(16), (byte & 15).toString(16)]);
  return { kind: parsed.kind(), labels: labels.reverse().join('.') };
}

/** Returns the name for a PTR lookup (RFC 1035 section 3.5, RFC 3596 section 2.5), or undefined for other text. */
export function reverseName(address: string): string | undefined {
  const reversed = reverseLabels(address);
  return reversed && `${reversed.labels}.${reversed.kind === 'ipv4' ? 'in-addr' : 'ip6'}.arpa`;
}
