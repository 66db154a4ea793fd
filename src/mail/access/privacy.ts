/** The privacy of a connection: others may be able to read what the client and the server say to each other. */
import { isLoopback } from '../../system/address-block.ts';
import type { Client } from '../connection/client.ts';
import type { AccessServerOptions } from './options.ts';

export type Privacy = {
  /** The connection is encrypted, or nobody can listen to it. */
  isPrivate: boolean;
  /** The client can encrypt the connection. */
  offersTls: boolean;
};

export type PrivacyContext = {
  client: Pick<Client, 'address' | 'tls'>;
  context: { options: Pick<AccessServerOptions, 'tls'> };
};

/** Returns whether a password can be sent on this connection. Nobody else can read a connection on loopback. */
export function privacyOf({ client, context }: PrivacyContext): Privacy {
  const isPrivate = client.tls !== undefined || isLoopback(client.address);
  return { isPrivate, offersTls: client.tls === undefined && context.options.tls?.mode === 'starttls' };
}
