/** The names of sites: an operator names a site by its whole key, or by one of its hosts. */

/** Matches what stands behind the hosts in the key of a site: what is required of TLS (mail/tls-policy/host-tls.ts), and the source. */
const BEHIND_HOSTS = / (?:dnssec\b|mta-sts=|tls=|from )/;

/** Returns the names of the hosts in the key of a site, separated by commas, or the whole key of a site without hosts. */
function hostsOfSite(site: string): string {
  const [hosts = site] = site.split(BEHIND_HOSTS);
  return hosts;
}

/** Returns true for a site that the operator names by its whole key or by one of its hosts (mail/mx.ts). */
export function isSite(key: string, name: string): boolean {
  return key === name || hostsOfSite(key).split(/[,/]/).includes(name);
}
