/** The address of the public pages that links in mail lead to. */
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
