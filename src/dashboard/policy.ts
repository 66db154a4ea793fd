/** The headers of the dashboard's answers (CSP 3). Pages load their own files alone; foreign HTML loads nothing, and runs nothing. */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { channelOf } from '../http/transport/channel.ts';

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** For HTML of strangers, in a frame whose origin is none. Inline styles are what mail is made of. */
export const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** Time for which a browser uses HTTPS alone for this host, in seconds: two years. */
const HSTS_SECONDS = 63_072_000;

/** Returns the headers of an answer. No answer is kept, because it is for one person. */
export function pageHeaders(request: FastifyRequest, { http }: Pick<Config, 'http'>): Record<string, string> {
  return {
    'content-security-policy': PAGE_POLICY,
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex',
    vary: 'cookie, accept-language',
    ...(channelOf(request, http.trustedProxies) === 'secure' && {
      'strict-transport-security': `max-age=${HSTS_SECONDS}`,
    }),
  };
}
