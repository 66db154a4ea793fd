/** The names of sites: an operator names a site by its whole key, or by one of its hosts. */
import { hostsOfSite } from './sources/source.ts';

/** Returns true for a site that the operator names by its whole key or by one of its hosts (mail/mx.ts). */
export function isSite(key: string, name: string): boolean {
  return key === name || hostsOfSite(key).split(/[,/]/).includes(name);
}
