/**
 * Finds the part of a name that somebody has registered, by the Public Suffix List. Its owner has all names below it
 * for nothing, so limits that are to be fair count by it. DNS is not asked: the owner of a domain decides what DNS says
 * about it, and could make an Organizational Domain of each name by `psd=n` (RFC 9989 section 4.10). Compares the names
 * of domains.
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
