/** Limits the addresses from which a key may be used: addresses and CIDR blocks of IPv4 and IPv6. */
import { type BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ApiKeyRow } from '../db/tenant-tables.ts';
import { readEach } from '../http/json/read-fields.ts';
import { blockList } from '../system/blocklist.ts';
import { invalid } from '../system/errors.ts';

/** Maximum number of entries of a key. */
export const MAX_ALLOWED_IPS = 20;

const BITS = { ipv4: 32, ipv6: 128 };
/** Prefix length of the IPv4-mapped addresses `::ffff:0:0/96` (RFC 4291 section 2.5.5.2). */
const MAPPED_BITS = 96;

/**
 * Returns each entry once, in canonical form: `10.1.2.3/8` becomes `10.0.0.0/8`, and `::ffff:10.1.2.3` becomes
 * `10.1.2.3`.
 *
 * @throws AppError validation_error naming the item
 */
export function readAllowedIps(param: string, items: readonly string[]): string[] {
  return [...new Set(readEach(items, (item, index) => readItem(`${param}[${index}]`, item)))];
}

function readItem(path: string, item: string): string {
  const plain = plainest(item);
  if (plain !== undefined) return plain;
  throw invalid(
    path,
    `\`${path}\` must be an address or a CIDR block such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32`,
  );
}

function plainest(item: string): string | undefined {
  const [, text = '', bits] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  // ipaddr.js also accepts 127.1 and 0x7f.0.0.1, which are refused here.
  if (isIP(text) === 0) return undefined;
  const mapped = ipaddr.parse(text);
  const address = ipaddr.process(text);
  const most = BITS[address.kind()];
  const length = Number(bits ?? BITS[mapped.kind()]) - (mapped.kind() === address.kind() ? 0 : MAPPED_BITS);
  if (length < 0 || length > most) return undefined;
  if (length === most) return address.toString();
  const block = `${address.toString()}/${length}`;
  const kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${kind.networkAddressFromCIDR(block).toString()}/${length}`;
}

type Limited = Pick<ApiKeyRow, 'allowedIps'>;
/** IPv4 and IPv6 have separate lists, because Node's list counts every IPv4 address as part of `::/0`. */
type Blocks = Record<keyof typeof BITS, BlockList>;

/** Parsed lists of the keys in memory (known-keys.ts). */
const known = new WeakMap<Limited, Blocks>();

/** Returns true when the key may be used from this peer, which is an IP literal in any form. */
export function allowsPeer(key: Limited, peer: string): boolean {
  if (key.allowedIps === null) return true;
  if (isIP(peer) === 0) return false;
  const address = ipaddr.process(peer);
  const blocks = known.get(key) ?? readBlocks(key.allowedIps);
  known.set(key, blocks);
  return blocks[address.kind()].check(address.toString(), address.kind());
}

function readBlocks(allowedIps: string): Blocks {
  const cidrs = showAllowedIps(allowedIps).map(toCidr);
  const isIpv6 = (cidr: string) => cidr.includes(':');
  return {
    ipv4: blockList(cidrs.filter((cidr) => !isIpv6(cidr))),
    ipv6: blockList(cidrs.filter(isIpv6)),
  };
}

function toCidr(item: string): string {
  return item.includes('/') ? item : `${item}/${BITS[ipaddr.parse(item).kind()]}`;
}

/** Returns the list that the column holds. */
export function showAllowedIps(allowedIps: string): string[] {
  return JSON.parse(allowedIps);
}
