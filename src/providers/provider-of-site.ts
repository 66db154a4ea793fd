/** Finds the provider that runs a site. */
import { findProvider, type Provider, packagedProviders } from './table.ts';

/** Returns the provider of a site: that of its first host that has one. A relay has none, since the operator has a contract with it. */
export function providerOfSite({
  hosts,
  relay,
}: {
  hosts: readonly string[];
  relay: object | null;
}): Provider | undefined {
  if (relay !== null) return undefined;
  for (const host of hosts) {
    const provider = findProvider(packagedProviders(), host);
    if (provider) return provider;
  }
  return undefined;
}
