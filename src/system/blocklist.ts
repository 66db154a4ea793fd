/**
 * Addresses the daemon must never connect to on behalf of others: itself, the machine's network, and everything that is
 * not a public unicast address. `allow` lists the CIDR blocks that the operator exempts.
 */
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type TargetGuard = {
  /** Returns true when a connection to this IP literal is allowed. Text that is not an IP address never is. */
  allows(address: string): boolean;
  /**
   * Returns those of the first `MAX_CHECKED_ADDRESSES` addresses of `host` that may be connected to. The others are
   * reported to `onRefused`, and to nobody else.
   */
  keepAllowed(host: string, addresses: readonly string[]): string[];
};

/**
 * The only thing a tenant learns about a host that cannot be connected to, whether the host does not exist, has no
 * address or has only private ones. Otherwise tenants could map the machine's network with names of their choice.
 */
export const NO_PUBLIC_ADDRESS = 'has no public address';

/**
 * Reports that the host has no address that may be connected to. `host` is the name that the caller gave, never an
 * address that it resolves to.
 */
export class RefusedTargetError extends Error {
  override readonly name = 'RefusedTargetError';

  constructor(host: string) {
    super(`${host} ${NO_PUBLIC_ADDRESS}`);
  }
}

/**
 * The only IPv6 range that is assigned for global unicast (RFC 3587 section 2, IANA's IPv6 address space registry).
 */
const GLOBAL_UNICAST = '2000::/3';

/** Maximum number of addresses of a host that are considered. A host may name thousands, and only a few are ever tried. */
export const MAX_CHECKED_ADDRESSES = 16;

/** Allows every address: for hosts that the operator has named with the permission to be private. */
export const UNGUARDED: TargetGuard = {
  allows: (address) => isIP(address) !== 0,
  keepAllowed: (_host, addresses) =>
    addresses.slice(0, MAX_CHECKED_ADDRESSES).filter((one) => isIP(one) !== 0),
};

type TargetGuardOptions = {
  /** CIDRs that may be connected to although they are private. */
  allow: readonly string[];
  /** Addresses of this machine. */
  own: readonly string[];
  /** Reports to the operator which addresses of a host were refused. */
  onRefused?: (host: string, addresses: readonly string[]) => void;
};

/**
 * Returns a guard that allows public unicast addresses and the addresses in `allow`.
 * @throws Error naming the CIDR of `allow` that cannot be parsed
 */
export function createTargetGuard(options: TargetGuardOptions): TargetGuard {
  const allowed = blockList(options.allow);
  const globalUnicast = blockList([GLOBAL_UNICAST]);
  const own = blockList(options.own.map((address) => `${address}/${isIP(address) === 4 ? 32 : 128}`));
  const allows = (address: string) => {
    if (isIP(address) === 0) return false;
    const plain = unwrap(address);
    const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
    if (allowed.check(plain, family)) return true;
    if (own.check(plain, family)) return false;
    return (
      ipaddr.parse(plain).range() === 'unicast' && (family === 'ipv4' || globalUnicast.check(plain, family))
    );
  };
  return {
    allows,
    keepAllowed(host, addresses) {
      const kept: string[] = [];
      const refused: string[] = [];
      for (const address of addresses.slice(0, MAX_CHECKED_ADDRESSES)) {
        (allows(address) ? kept : refused).push(address);
      }
      if (refused.length > 0) options.onRefused?.(host, refused);
      return kept;
    },
  };
}

/**
 * Returns the IPv4 address inside `::ffff:127.0.0.1` (RFC 4291 section 2.5.5.2), and drops a scope id
 * (`fe80::1%eth0`).
 */
function unwrap(address: string): string {
  const parsed = ipaddr.parse(address.replace(/%.*$/, ''));
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return parsed.toString();
}

/**
 * Returns a list that matches the addresses within the CIDRs.
 * @throws Error naming the CIDR that cannot be parsed
 */
export function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    if (!ipaddr.isValidCIDR(cidr)) throw new Error(`"${cidr}" is not a CIDR such as 127.0.0.0/8`);
    const [network, bits] = ipaddr.parseCIDR(cidr);
    list.addSubnet(network.toString(), bits, network.kind());
  }
  return list;
}
