/**
 * The cookies of the dashboard, and whether a connection may carry them. Over HTTPS they have the prefix `__Host-`, which binds
 * them to this host (RFC 6265bis section 4.1.3.2). On this machine alone, plain HTTP is accepted, for development.
 */
import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { hostNameOf } from '../../http/transport/host-names.ts';
import { isLoopback, plainAddress } from '../../system/address-block.ts';
import { isLocalHost, originOf } from '../origin.ts';

/** `secure`: HTTPS, here or at a trusted proxy. `local`: plain HTTP on this machine. `plain`: plain HTTP from elsewhere, where nobody logs in. */
export type Channel = 'secure' | 'local' | 'plain';

/** `session` has the token of a session, `openid` the secrets of a login at a provider, and `device` the tokens of a browser that is known. */
type CookieName = 'session' | 'openid' | 'device';

/** Links and forms of other sites that lead here carry the first two cookies, as the return from a provider must. */
const SAME_SITE: Record<CookieName, 'Lax' | 'Strict'> = { session: 'Lax', openid: 'Lax', device: 'Strict' };

function nameOn(channel: Channel, name: CookieName): string {
  return channel === 'secure' ? `__Host-${name}` : name;
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

/**
 * Returns the origin under which a browser has opened a page. Over HTTPS it is that of the configuration, because a proxy may pass another
 * Host header on.
 */
export function browserOrigin(
  { headers: { host = '' } }: Pick<FastifyRequest, 'headers'>,
  channel: Channel,
  config: Pick<Config, 'http' | 'hostname'>,
): string | undefined {
  if (channel === 'plain') return undefined;
  const configured = originOf(config);
  if (channel === 'secure' && configured.startsWith('https:')) return configured;
  const origin = `${channel === 'secure' ? 'https' : 'http'}://${host.toLowerCase()}`;
  return URL.canParse(origin) ? origin : undefined;
}

/** Returns the value of a cookie of a request. One that came over plain HTTP from elsewhere was open to everybody between, and counts as none. */
export function readCookie(request: FastifyRequest, channel: Channel, name: CookieName): string | undefined {
  if (channel === 'plain') return undefined;
  const start = `${nameOn(channel, name)}=`;
  const pairs = (request.headers.cookie ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}

type NewCookie = { name: CookieName; value: string | undefined; maxAgeSeconds: number };

/** Returns the header that sets a cookie; an undefined value removes it. */
export function cookieHeader(channel: Channel, { name, value, maxAgeSeconds }: NewCookie): string {
  const attributes = [
    'Path=/',
    'HttpOnly',
    `SameSite=${SAME_SITE[name]}`,
    `Max-Age=${value === undefined ? 0 : maxAgeSeconds}`,
  ];
  if (channel === 'secure') attributes.push('Secure');
  return [`${nameOn(channel, name)}=${value ?? ''}`, ...attributes].join('; ');
}
