/** Says over which family of addresses mail goes to hosts: what the operator has set, and what the table of providers prefers. */
import { isIPv4 } from 'node:net';
import { findProvider, packagedProviders } from '../../providers/table.ts';
import type { Hosts } from './source.ts';

/** Returns the hosts without their IPv6 addresses where the settings say so of the domain, or of the host or a domain that it is in. */
export function withoutIPv6(ipv4Only: readonly string[], domain: string, hosts: Hosts): Hosts {
  if (ipv4Only.length === 0) return hosts;
  const names = ipv4Only.map((name) => name.toLowerCase());
  const isIPv4Only = (host: string) => names.some((name) => host === name || host.endsWith(`.${name}`));
  const isDomain = names.includes(domain);
  return hosts.flatMap((host) => {
    if (!isDomain && !isIPv4Only(host.name)) return [host];
    const addresses = host.addresses.filter(isIPv4);
    return addresses.length === 0 ? [] : [{ ...host, addresses }];
  });
}

/**
 * Returns the hosts with their IPv4 addresses first where the table of providers says so. IPv6 is then used only when no connection
 * over IPv4 can be made.
 */
export function ipv4First(hosts: Hosts): Hosts {
  return hosts.map((host) => {
    if (!findProvider(packagedProviders(), host.name)?.ipv4First) return host;
    const { addresses } = host;
    return { ...host, addresses: [...addresses.filter(isIPv4), ...addresses.filter((one) => !isIPv4(one))] };
  });
}
