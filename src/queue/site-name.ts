/** The names of sites: an operator names a site by its whole key, or by one of its hosts. */

/** Matches what stands behind the hosts in the key of a site: what is required of TLS (mail/tls-policy/host-tls.ts), and the source. */
const BEHIND_HOSTS = / (?:dnssec\b|mta-sts=|tls=|from )/;

/** Returns the part of the key of a site that names its hosts, or the whole key of a site without hosts. */
export function hostsOfSite(site: string): string {
  const [hosts = site] = site.split(BEHIND_HOSTS);
  return hosts;
}

/** Returns the names of all hosts of a site, also of those that a route has no room for. A key that is hashed has no names, and is returned itself. */
export function hostNamesOf(site: string): string[] {
  return hostsOfSite(site).split(/[,/]/);
}

/** Matches the source at the end of the key of a site, with the fingerprint of its settings (queue/sources/source.ts). */
const SOURCE = / from (\S+) [0-9a-f]{8}$/;

/** Returns the name of the source in the key of a site; null when it has none. */
export function sourceOfSite(site: string): string | null {
  return SOURCE.exec(site)?.[1] ?? null;
}

/** Returns true for a site that the operator names by its whole key or by one of its hosts (mail/mx.ts). */
export function isSite(key: string, name: string): boolean {
  return key === name || hostNamesOf(key).includes(name);
}
