/** The client of a connection, as far as it is known. */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isLoopback, plainAddress } from '../../system/address-block.ts';
import type { AccessServerOptions } from './options.ts';

export type AccessClient = {
  /** IP address of the client. IPv4 addresses are in their plain form. */
  address: string;
  port: number;
  localAddress: string;
  localPort: number;
  /** `serverName` is the name that the client asked for (SNI), in the client's spelling. */
  tls: { version: string; cipher: string; serverName: string | undefined } | undefined;
};

/** Returns the client of a connection that has just begun. */
export function clientOf(socket: Socket): AccessClient {
  return {
    address: plainAddress(socket.remoteAddress ?? ''),
    port: socket.remotePort ?? 0,
    localAddress: plainAddress(socket.localAddress ?? ''),
    localPort: socket.localPort ?? 0,
    tls: undefined,
  };
}

/** Returns the facts of a connection whose handshake has ended. */
export function tlsOf(secure: TLSSocket): AccessClient['tls'] {
  return {
    version: secure.getProtocol() ?? '',
    cipher: secure.getCipher().name,
    serverName: secure.servername || undefined,
  };
}

export type Privacy = {
  /** The connection is encrypted, or nobody can listen to it. */
  isPrivate: boolean;
  /** The client can encrypt the connection. */
  offersTls: boolean;
};

export type PrivacyContext = {
  client: Pick<AccessClient, 'address' | 'tls'>;
  context: { options: Pick<AccessServerOptions, 'tls'> };
};

/** Returns whether a password can be sent on this connection. Nobody else can read a connection on loopback. */
export function privacyOf({ client, context }: PrivacyContext): Privacy {
  const isPrivate = client.tls !== undefined || isLoopback(client.address);
  return { isPrivate, offersTls: client.tls === undefined && context.options.tls?.mode === 'starttls' };
}
