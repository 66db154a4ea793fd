/** Finds the provider that runs a site. */
import { findProvider, type Provider, packagedProviders } from './table.ts';

/**
 * Returns the provider of a site, all hosts of which are its own: whoever names hosts of a provider beside others must not have its mail
 * slowed down by what the others say, nor use up its connections. A relay has none, since the operator has a contract with it.
 */
export function providerOfSite({
  hosts,
  relay,
}: {
  hosts: readonly string[];
  relay: object | null;
}): Provider | undefined {
  const [first, ...others] = hosts;
  if (relay !== null || first === undefined) return undefined;
  const table = packagedProviders();
  const provider = findProvider(table, first);
  return others.every((host) => findProvider(table, host) === provider) ? provider : undefined;
}
