/**
 * Names of domains: whether one is below another, and which part of it somebody has registered, by the Public Suffix List. Its owner has all
 * names below it for nothing, so limits that are to be fair count by it. DNS is not asked, since the owner of a domain decides what DNS says.
 */

/** The whole text is a name. Otherwise one that is not valid would have no owner, and count on its own. */
const OPTIONS = { extractHostname: false };

/**
 * Returns the registered name, which is one label below a public suffix: `example.co.uk` for `mail.example.co.uk`. A public suffix
 * is returned as it is. `name` is in lower case. The list is loaded when it is first needed.
 */
export async function registrableDomain(name: string): Promise<string> {
  const { default: suffixes } = await import('tldts');
  return suffixes.getDomain(name, OPTIONS) ?? name;
}

/** Returns true when a name is that of the domain, or one below it. Both are in the same case. */
export function isSameOrBelow(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
