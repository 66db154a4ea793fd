/** Checks that a name leads to this machine, because an authority would otherwise ask another one, and count a failure. */
import type { App } from '../../app.ts';
import { findAddresses } from '../../domains/operator-records.ts';

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
  const own = new Set(await findAddresses(dns.fresh, config));
  const foreign = found.filter((address) => !own.has(address));
  return foreign.length === 0
    ? undefined
    : `leads to ${foreign.slice(0, MAX_NAMED).join(', ')}, which is not this machine`;
}

/** Maximum number of addresses that are named. */
const MAX_NAMED = 5;
