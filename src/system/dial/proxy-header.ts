/**
 * Builds the header by which a connection asks a proxy for an address (PROXY protocol, version 2, section 2.2): the source is the
 * address from which the proxy connects, and the destination is the host.
 */
import { addressOctets } from './source.ts';
import { SourceError } from './source-failure.ts';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** Version 2 with the command PROXY. */
const VERSION_AND_COMMAND = 0x21;
/** TCP over IPv4 and over IPv6, by the number of octets of an address. */
const TRANSPORTS: Readonly<Record<number, number>> = { 4: 0x11, 16: 0x21 };

/** Returns the header. The proxy chooses the port from which it connects. @throws SourceError when the families differ */
export function proxyHeader(source: string, destination: { address: string; port: number }): Buffer {
  const from = addressOctets(source);
  const to = addressOctets(destination.address);
  if (from.length !== to.length)
    throw new SourceError(
      'refused',
      'the address of the source and that of the host are of different families',
    );
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(destination.port, 2);
  const addresses = Buffer.concat([from, to, ports]);
  const head = Buffer.from([VERSION_AND_COMMAND, TRANSPORTS[from.length] ?? 0, 0, 0]);
  head.writeUInt16BE(addresses.length, 2);
  return Buffer.concat([SIGNATURE, head, addresses]);
}
