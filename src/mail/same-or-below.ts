/** Compares the names of domains. */

/** Returns true when a name is that of the domain, or one below it. Both are in the same case. */
export function isSameOrBelow(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
