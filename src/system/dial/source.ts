/**
 * A source is where a connection to another host comes from: an address of this machine, or a proxy that connects on its behalf.
 * The host is always named by its IP address, so that a proxy never resolves a name.
 */
import ipaddr from 'ipaddr.js';

/** A proxy. `address` is an IP literal, and may be private: the operator has named it. */
export type ProxyEndpoint = { address: string; port: number };

/** User name and password of RFC 1929, each of 1 to 255 octets. */
export type SocksLogin = { user: string; password: string };

export type DialSource =
  | { kind: 'address'; address: string }
  /** A SOCKS5 server (RFC 1928). `login` is null when it knows this machine by its address. */
  | { kind: 'socks5'; proxy: ProxyEndpoint; login: SocksLogin | null }
  /** A proxy that reads from the header of the PROXY protocol from which of its addresses it connects, and to which host. */
  | { kind: 'proxy-protocol'; proxy: ProxyEndpoint; address: string };

/** Returns the octets of an IP literal in network order: 4 of IPv4, also when it is mapped into IPv6, and 16 of IPv6. */
export function addressOctets(address: string): Buffer {
  return Buffer.from(ipaddr.process(address).toByteArray());
}
