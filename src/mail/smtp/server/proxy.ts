/**
 * Reads the header with which a proxy names its client: the PROXY protocol of HAProxy, versions 1 and 2
 * (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt). Only configured proxies may send it.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses of the connection between the client and the proxy. */
export type ProxiedAddresses = { address: string; port: number; localAddress: string; localPort: number };

type ProxyHeader =
  | { kind: 'incomplete' }
  | { kind: 'malformed' }
  /** `addresses` is undefined when the proxy speaks for itself, as for its own health checks. */
  | { kind: 'complete'; sizeBytes: number; addresses: ProxiedAddresses | undefined };

/** Maximum length of a header of version 1 with its CRLF (section 2.1). */
const MAX_V1_BYTES = 107;
/** Maximum length of a header of version 2. The addresses take 52 bytes; the rest is for extensions. */
const MAX_V2_BYTES = 4_096;
const V1_PREFIX = Buffer.from('PROXY ');
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The signature, the version and command, the family, and the length (section 2.2). */
const V2_FIXED_BYTES = 16;
const V2_LOCAL = 0x20;
const V2_PROXY = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

const V1_LINE =
  /^PROXY (?:UNKNOWN(?: [ -~]*)?|(TCP[46]) ([0-9A-Fa-f.:]+) ([0-9A-Fa-f.:]+) ([0-9]{1,5}) ([0-9]{1,5}))\r\n$/;

const INCOMPLETE = { kind: 'incomplete' } as const;
const MALFORMED = { kind: 'malformed' } as const;

/** Reads the header at the beginning of a connection. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsLike(bytes, V2_SIGNATURE)) return readVersion2(bytes);
  return beginsLike(bytes, V1_PREFIX) ? readVersion1(bytes) : MALFORMED;
}

/** Returns true when the bytes begin with the prefix, or are the beginning of it. */
function beginsLike(bytes: Buffer, prefix: Buffer): boolean {
  const length = Math.min(bytes.length, prefix.length);
  return bytes.subarray(0, length).equals(prefix.subarray(0, length));
}

function readVersion1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf('\r\n');
  if (end < 0) return bytes.length < MAX_V1_BYTES ? INCOMPLETE : MALFORMED;
  const sizeBytes = end + 2;
  const match = V1_LINE.exec(bytes.toString('latin1', 0, sizeBytes));
  if (!match) return MALFORMED;
  const [, family, source = '', destination = '', port, localPort] = match;
  if (family === undefined) return { kind: 'complete', sizeBytes, addresses: undefined };
  const version = family === 'TCP4' ? 4 : 6;
  if (isIP(source) !== version || isIP(destination) !== version) return MALFORMED;
  return complete(sizeBytes, {
    address: plain(source),
    port: Number(port),
    localAddress: plain(destination),
    localPort: Number(localPort),
  });
}

function readVersion2(bytes: Buffer): ProxyHeader {
  if (bytes.length < V2_FIXED_BYTES) return INCOMPLETE;
  const sizeBytes = V2_FIXED_BYTES + bytes.readUInt16BE(V2_FIXED_BYTES - 2);
  if (sizeBytes > MAX_V2_BYTES) return MALFORMED;
  if (bytes.length < sizeBytes) return INCOMPLETE;
  const [command, family] = bytes.subarray(V2_SIGNATURE.length);
  if (command === V2_LOCAL) return { kind: 'complete', sizeBytes, addresses: undefined };
  if (command !== V2_PROXY) return MALFORMED;
  const block = bytes.subarray(V2_FIXED_BYTES, sizeBytes);
  switch (family) {
    case TCP_OVER_IPV4:
      return readAddresses(block, { sizeBytes, addressBytes: 4 });
    case TCP_OVER_IPV6:
      return readAddresses(block, { sizeBytes, addressBytes: 16 });
    default:
      // The proxy does not know the client, or it came by another protocol.
      return { kind: 'complete', sizeBytes, addresses: undefined };
  }
}

function readAddresses(
  block: Buffer,
  { sizeBytes, addressBytes }: { sizeBytes: number; addressBytes: number },
): ProxyHeader {
  const ports = 2 * addressBytes;
  if (block.length < ports + 4) return MALFORMED;
  const addressAt = (at: number) =>
    ipaddr.fromByteArray([...block.subarray(at, at + addressBytes)]).toString();
  return complete(sizeBytes, {
    address: plain(addressAt(0)),
    port: block.readUInt16BE(ports),
    localAddress: plain(addressAt(addressBytes)),
    localPort: block.readUInt16BE(ports + 2),
  });
}

function complete(sizeBytes: number, addresses: ProxiedAddresses): ProxyHeader {
  const isPort = (port: number) => port <= 0xffff;
  if (!isPort(addresses.port) || !isPort(addresses.localPort)) return MALFORMED;
  return { kind: 'complete', sizeBytes, addresses };
}

/** Returns one spelling for all forms of an address; an IPv4 address in IPv6 form becomes plain. */
function plain(address: string): string {
  return ipaddr.process(address).toString();
}
