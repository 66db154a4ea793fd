/**
 * The cookies of the dashboard. Over HTTPS they have the prefix `__Host-`, which binds
 * them to this host (RFC 6265bis section 4.1.3.2). On this machine alone, plain HTTP is accepted, for development.
 */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Channel } from '../../http/transport/channel.ts';
import { originOf } from '../origin.ts';

/** `session` has the token of a session, `openid` the secrets of a login at a provider, and `device` the tokens of a browser that is known. */
type CookieName = 'session' | 'openid' | 'device';

/** Links and forms of other sites that lead here carry the first two cookies, as the return from a provider must. */
const SAME_SITE: Record<CookieName, 'Lax' | 'Strict'> = { session: 'Lax', openid: 'Lax', device: 'Strict' };

function nameOn(channel: Channel, name: CookieName): string {
  return channel === 'secure' ? `__Host-${name}` : name;
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
