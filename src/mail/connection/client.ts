/** The client of a connection, as far as it is known. */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { plainAddress } from '../../system/address-block.ts';

export type Client = {
  /** IP address of the client, which a trusted proxy may have named. IPv4 addresses are in their plain form. */
  address: string;
  port: number;
  localAddress: string;
  localPort: number;
  /** `serverName` is the name that the client asked for (SNI), in the client's spelling. */
  tls: { version: string; cipher: string; serverName: string | undefined } | undefined;
};

/** Returns the client of a connection that has just begun. */
export function clientOf(socket: Socket): Client {
  return {
    address: plainAddress(socket.remoteAddress ?? ''),
    port: socket.remotePort ?? 0,
    localAddress: plainAddress(socket.localAddress ?? ''),
    localPort: socket.localPort ?? 0,
    tls: undefined,
  };
}

/** Returns the facts of a connection whose handshake has ended. */
export function tlsOf(secure: TLSSocket): Client['tls'] {
  return {
    version: secure.getProtocol() ?? '',
    cipher: secure.getCipher().name,
    serverName: secure.servername || undefined,
  };
}
