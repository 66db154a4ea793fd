/** The protection of the connection of a request: HTTPS, this machine alone, or none. Credentials travel over the first two. */
import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { isLoopback, plainAddress } from '../../system/address-block.ts';
import { hostNameOf } from './host-names.ts';

/** `secure`: HTTPS, here or at a trusted proxy. `local`: plain HTTP on this machine. `plain`: plain HTTP from elsewhere. */
export type Channel = 'secure' | 'local' | 'plain';

/** Names of this machine in a Host header. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Returns true for a Host header that names this machine. */
export function isLocalHost(hostName: string): boolean {
  return LOCAL_HOSTS.includes(hostName);
}

/** Returns the channel of a request. `trustedProxies` are exact addresses. */
export function channelOf(request: FastifyRequest, trustedProxies: readonly string[]): Channel {
  const socket = request.raw.socket as Partial<TLSSocket>;
  if (socket.encrypted) return 'secure';
  const peer = plainAddress(socket.remoteAddress ?? '');
  const isProxied = trustedProxies.some((proxy) => plainAddress(proxy) === peer);
  if (isProxied && request.headers['x-forwarded-proto'] === 'https') return 'secure';
  if (isProxied && request.headers['x-forwarded-for'] !== undefined) return 'plain';
  return isLoopback(peer) && isLocalHost(hostNameOf(request.headers.host ?? '')) ? 'local' : 'plain';
}
