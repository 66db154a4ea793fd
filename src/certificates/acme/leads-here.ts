/** Checks that a name leads to this machine, because an authority would otherwise ask another one, and count a failure. */
import { isIPv6 } from 'node:net';
import type { App } from '../../app.ts';
import { findAddresses } from '../../domains/operator-records.ts';
import { blockList } from '../../system/blocklist.ts';

/** Returns why a name does not lead here, as a sentence without its subject; undefined when it does. */
export async function findWrongDirection(
  { dns, config }: Pick<App, 'dns' | 'config'>,
  name: string,
): Promise<string | undefined> {
  const answers = await Promise.all([dns.fresh.a(name), dns.fresh.aaaa(name)]);
  const failure = answers.find((answer) => answer.kind === 'failed');
  if (failure) return `cannot be looked up (${failure.reason})`;
  const found = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
  if (found.length === 0) return 'has no address in DNS';
  const own = await findAddresses(dns.fresh, config);
  // One IPv6 address has many spellings, of which a list of blocks knows all.
  const here = blockList(own.map((address) => `${address}/${isIPv6(address) ? 128 : 32}`));
  const foreign = found.filter((address) => !here.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'));
  return foreign.length === 0
    ? undefined
    : `leads to ${foreign.slice(0, MAX_NAMED).join(', ')}, which is not this machine`;
}

/** Maximum number of addresses that are named. */
const MAX_NAMED = 5;
