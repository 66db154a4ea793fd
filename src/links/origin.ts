/** The addresses of the public pages and of the API that links lead to. */
import { isIPv6 } from 'node:net';
import type { Config } from '../config/config.ts';

/**
 * Returns the origin of the public pages, such as `https://track.mx.example.com`. A daemon that was not told its host name
 * serves them at the API's own port, under a name that browsers resolve to this machine (RFC 6761 section 6.3).
 */
export function linksOrigin({ links, hostname, http }: Pick<Config, 'links' | 'hostname' | 'http'>): string {
  if (links.url !== '') return links.url;
  return hostname === 'localhost' ? `http://track.localhost:${http.port}` : `https://track.${hostname}`;
}

/**
 * Returns the host names of the public pages, in lower case and without a port. Links that were written before `links.url` was
 * set still lead to the standard name.
 */
export function pageHosts(config: Pick<Config, 'links' | 'hostname' | 'http'>): ReadonlySet<string> {
  return new Set([new URL(linksOrigin(config)).hostname, `track.${config.hostname.toLowerCase()}`]);
}

const HTTPS_PORT = 443;

/**
 * Returns the origin of the API: the configured one, or that of HTTPS, whose certificate is for the host name. A daemon that was not told its
 * host name, or that leaves HTTPS to a proxy, is reached at the address that the API listens on.
 */
export function apiOrigin({ http, https, hostname }: Pick<Config, 'http' | 'https' | 'hostname'>): string {
  if (http.publicUrl !== '') return http.publicUrl;
  if (https.enabled && hostname !== 'localhost')
    return `https://${hostname}${https.port === HTTPS_PORT ? '' : `:${https.port}`}`;
  const { address, port } = http;
  const isAnywhere = address === '0.0.0.0' || address === '::';
  const host = isAnywhere ? hostname : isIPv6(address) ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
